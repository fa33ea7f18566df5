"""A simulated rank: the hooks of `Comm` in virtual time."""

from __future__ import annotations

import sys
from collections import deque

from greenlet import getcurrent

from dlmini.comm.base import Comm
from dlmini.comm.group import Group
from dlmini.comm.wire import copied
from dlmini.events import Event
from dlmini.sim.agenda import POST
from dlmini.sim.cluster import Dice
from dlmini.sim.engine import TIE, Engine
from dlmini.sim.lane import Lane, Queue
from dlmini.sim.mailbox import Mailbox
from dlmini.sim.places import outside
from dlmini.sim.together import Together

NEVER = float("inf")
SLOTS = (
    "alarm busy clock dice dies engine fault given greenlet here idle inn ins late life out outs plain posted queues "
    "settled speed state stream tickets wants"
)


class Rank(Mailbox, Together, Comm):
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

    def _send(self, dest: int, message, channel: int) -> None:
        engine, clock = self.engine, self.clock
        if getcurrent() is not self.greenlet:
            self._reject()
        lane = self.out  # most often the way of the message before
        if lane is None or lane.to != dest or lane.channel != channel:
            lane = self._lane_to(dest, channel)
        data, nbytes = copied(message)
        frame = sys._getframe(2)
        code, lasti = frame.f_code, frame.f_lasti
        if not 0 <= channel < 2**31:  # sent by the library, for whom?
            code, lasti = self._line(frame)
        engine.serial = serial = engine.serial + 1
        if lane.own and self.plain:  # a port of my own: nobody else's message can come before this one
            frees, out, latency = engine.free, lane.ports[0], lane.latency
            free = frees[out]
            start = clock if clock > free else free
            frees[out] = free = start + nbytes * lane.per_byte
            hop, head, tail = 1, start + latency, free + latency
            tie = hash((engine.seed, self.rank, head)) * TIE
        else:
            hop, head, tail = 0, self._departure(lane), clock
            tie = hash((engine.seed, self.rank, head)) * TIE + (POST if lane.ports else 0.0)
        engine.agenda.push(head, (tie, serial, lane, hop, data, nbytes, clock, tail, code, lasti))
        lane.last, self.clock = serial, clock + engine.overhead
        self._book_sent(lane.line, nbytes, clock, self.clock)

    def _lane_to(self, dest: int, channel: int) -> Lane:
        lane = self.outs.get((dest, channel))
        if lane is None:
            lane = self.outs[dest, channel] = self.engine.ranks[dest]._lane_from(self.rank, channel)
        self.out = lane
        return lane

    def _line(self, frame) -> tuple:
        frame = outside(frame)
        return frame.f_code, frame.f_lasti

    def _departure(self, lane: Lane) -> float:
        """When a message sets out: now, or later by the jitter of its link, but never before the one sent before it."""
        self._alive()
        if self.late is None or not lane.ports:
            return self.clock
        delay = lane.latency * self.engine.cluster.link_jitter * self.late.roll()
        lane.departed = max(lane.departed, self.clock + delay)
        return lane.departed

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
