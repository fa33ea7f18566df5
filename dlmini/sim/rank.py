"""A simulated rank: the hooks of `Comm` in virtual time.

Collectives are priced as one computation or played message by message, waited for or in the background. What a rank
posts follows one another, as on a stream: the next one begins when the one before has ended.
"""

from __future__ import annotations

import sys
from collections import deque

from dlmini.comm.base import Comm
from dlmini.comm.collectives import Collectives, Pending
from dlmini.comm.group import Group
from dlmini.comm.schedules import Plan
from dlmini.comm.wire import copied
from dlmini.events import Event, Phases
from dlmini.sim.cluster import Dice
from dlmini.sim.engine import Engine
from dlmini.sim.receiving import Mailbox
from dlmini.sim.sending import Lane, Outbox, Queue

ACTS = {
    "barrier": lambda comm, plan, x: Collectives._wait_for_all(comm, plan),
    "allreduce": lambda comm, plan, x: Collectives._sum(comm, plan, x).wait(),
    "reduce_scatter": lambda comm, plan, x: Collectives._sum_part(comm, plan, x).wait(),
    "allgather": lambda comm, plan, x: Collectives._gather_all(comm, plan, x).wait(),
}


class Together:
    """What a simulated rank, or group, does with a plan."""

    __slots__ = ()

    def _wait_for_all(self, plan: Plan) -> None:
        self._do("barrier", plan, None).wait()

    def _sum(self, plan: Plan, x) -> Pending:
        return self._do("allreduce", plan, x)

    def _sum_part(self, plan: Plan, x) -> Pending:
        return self._do("reduce_scatter", plan, x)

    def _gather_all(self, plan: Plan, x) -> Pending:
        return self._do("allgather", plan, x)

    def _do(self, verb: str, plan: Plan, x) -> Pending:
        engine = getattr(self, "world", self).engine
        priced = engine.pricing and plan.trusted and plan.size > 1 and (verb != "allgather" or plan.single)
        return (engine.ticket if priced else engine.played)(self, verb, plan, x)


class Posted(Pending):
    """A collective of one rank. `begun`, `ended` and `share`, its phases, are known when it has ended."""

    def __init__(self, comm, verb: str, plan: Plan, x):
        self.comm, self.rank, self.verb, self.plan, self.x = comm, getattr(comm, "world", comm), verb, plan, x
        self.posted = self.begun = self.ended = self.line = None
        self.share, self.result, self.error, self.felt = Phases(), None, None, False

    def start(self) -> Posted:
        """Go on without it. From now on this rank's messages and its collectives may want a port at the same time."""
        if self.posted is None:
            self.rank.plain = False
            self.x = copied(self.x)[0]
            self._post()
        return self

    def wait(self):
        if self.posted is None:
            self._post()
        if self.ended is None:
            self.rank._wait_for(self)
        if not self.felt:
            self._feel()
        if self.error is not None:
            raise self.error
        return self.result

    def _post(self) -> None:
        self.line = self.rank._line(sys._getframe(1))
        self.post()

    def _feel(self) -> None:
        """Time passes until it ends; of what it did, only the part that the rank had to wait for is booked."""
        self.felt, called = True, self.rank.clock
        if self.ended > called:
            self.rank.clock = self.ended
            self.rank._book_share(called, self.begun, self.ended, self.share)

    def end(self, time: float) -> None:
        """It has ended; let its rank go on, if that waits for it."""
        rank, self.ended = self.rank, time
        if rank.wants is self:
            rank.wants = None
            rank.engine.soon(rank)

    def post(self) -> None:
        raise NotImplementedError

    def missing(self) -> tuple[str, tuple[int, ...]]:
        """For the diagnosis: what is waited for, and for whom."""
        raise NotImplementedError

    def lost(self, gone):
        """Who is gone so that it cannot end any more, if anybody."""


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

    def gone(self) -> frozenset[int]:
        return frozenset(rank for rank, time in self.engine.lifecycle.deaths.items() if time <= self.clock)

    def give_up(self):
        self.dies = self.clock
        self.engine.lifecycle.die()

    def _tell(self, event: Event) -> None:
        self.engine.tell(event)

    def _charge(self, label: str, flops: float, share: float = 1.0) -> None:
        seconds = self.engine.cluster.cost(label, flops) * share / self.speed
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
            self.engine.lifecycle.die()

    def _reject(self) -> None:
        raise RuntimeError(
            f"the communicator of rank {self.rank} was used by another rank or thread; every rank has its own"
        )


class RankGroup(Together, Group):
    """Some simulated ranks, renumbered."""

    def group(self, ranks) -> RankGroup:
        return RankGroup(self, ranks)
