"""A simulated rank: the hooks of `Comm` in virtual time."""

from __future__ import annotations

from collections import deque

from dlmini.comm.base import Comm
from dlmini.comm.group import Group
from dlmini.events import Event
from dlmini.sim.cluster import Dice
from dlmini.sim.engine import Engine
from dlmini.sim.lane import Lane, Queue
from dlmini.sim.mailbox import Mailbox
from dlmini.sim.outbox import Outbox
from dlmini.sim.together import Together

NEVER = float("inf")
SLOTS = (
    "alarm busy clock dice dies engine fault given greenlet here idle inn ins late life out outs plain posted queues "
    "settled speed state stream tickets wants"
)


class Rank(Outbox, Mailbox, Together, Comm):
    """One simulated machine. Nobody but the rank itself moves its `clock`; `life` counts how often it has come back."""

    __slots__ = tuple(SLOTS.split())

    def __init__(self, engine: Engine, rank: int):
        super().__init__(rank, engine.size)
        cluster = engine.cluster
        self.engine, self.life, self.state, self.stream = engine, 0, "alive", None
        self.clock, self.dies = cluster.start.get(rank, 0.0), cluster.crash.get(rank, NEVER)
        self.speed = cluster.speed.get(rank, 1.0)
        self.dice = Dice((engine.seed, rank, 1), "standard_normal") if cluster.jitter else None
        self.late = Dice((engine.seed, rank, 2), "standard_exponential") if cluster.link_jitter else None
        self.plain = self.late is None and self.dies == NEVER
        self.ins: dict[tuple[int, int], Lane] = {}
        self.outs: dict[tuple[int, int], Lane] = {}
        self.forget()

    def forget(self) -> None:
        """Nothing has been said by anybody: at birth, and after a crash."""
        for lane in self.ins.values():
            lane.box, lane.queue = [], None
        self.queues: dict[int, Queue] = {}
        self.posted: dict[int, int] = {}  # collectives so far, by group
        self.tickets, self.busy = deque(), -NEVER  # those not yet closed, and until when the last one lasted
        self.wants = self.given = self.fault = self.alarm = self.greenlet = self.inn = self.out = None
        self.here, self.settled, self.idle = 0.0, -NEVER, 0

    def now(self) -> float:
        return self.clock

    def group(self, ranks) -> RankGroup:
        return RankGroup(self, ranks)

    def _tell(self, event: Event) -> None:
        self.engine.tell(event)

    def _charge(self, label: str, flops: float) -> None:
        seconds = self.engine.cluster.cost(label, flops) / self.speed
        self.clock += seconds * self.dice.lognormal(self.engine.cluster.jitter) if self.dice else seconds
        self._alive()

    def _charge_sum(self, nbytes: int) -> None:
        self.clock += nbytes * (self.engine.cluster.gamma / self.speed)

    @property
    def places(self) -> range:
        """As in a group: the number of each rank, which in the world is its own."""
        return range(self.size)

    def job(self):
        """What it works off beside the program: a stream has such, a rank has not."""

    def _finish(self) -> None:
        """The program has returned; what it has posted is still waited for."""
        for job in [*self.tickets, *(self.stream.jobs if self.stream else ())]:
            job.wait()
        self._alive()

    def _alive(self) -> None:
        if self.clock >= self.dies:
            self.engine.lives.die()

    def _reject(self) -> None:
        raise RuntimeError(
            f"the communicator of rank {self.rank} was used by another rank or thread; every rank has its own"
        )


class RankGroup(Together, Group):
    """Some simulated ranks, renumbered."""

    def group(self, ranks) -> RankGroup:
        return RankGroup(self, ranks)
