"""The engine: a clock, a queue of events, and ordinary sequential programs that wait.

Every rank is a greenlet; one runs at a time, until it must wait for another. Then it pops events until somebody can go
on, and switches straight to them. A rank may run *ahead* of the world (its clock later than the queue's): what it
sends waits in the queue until its time comes. Only `recv_any` and `poll`, whose answer depends on what others do
meanwhile, first let the world catch up.

One event per message: its first byte reaching the next port that others use too. Ports serve in the order of time;
ties are broken by hash((hash((seed, sender)), time)): fair, free of state, and another legal order for another seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import call

from greenlet import GreenletExit, getcurrent, greenlet

from dlmini.comm.network import INNER, SHARED
from dlmini.sim.cluster import Cluster
from dlmini.sim.event_queue import FIRST, LAST, EventQueue

SHIFT, TIE = 34, 2.0**-29  # of a hash's 64 bits the upper 30 make a tie between -1 and 1: quick to convert and compare


class Errand:
    """Something the hub has to do at its time: in the queue it looks like a rank whose greenlet is the hub."""

    def __init__(self, engine: Engine, do):
        self.greenlet, self.do, self.alarm = engine.hub, do, None


class Engine:
    """Ports, time, and who goes on next. Ranks begin and end in lifecycle.py; what they say is in rank.py."""

    def __init__(self, cluster: Cluster, size: int, seed: int = 0, log: bool = False):
        self.cluster, self.size, self.seed = cluster, size, seed
        self.ports = cluster.network.ports(size)
        self.latency, self.per_byte = [p.latency for p in self.ports], [p.per_byte for p in self.ports]
        self.free = [0.0] * len(self.ports)  # when each port is free again
        self.seen = [-LAST] * len(self.ports)  # when the last first byte came there
        self.priced = [-LAST] * len(self.ports)  # when the last one of a priced collective did
        self.queue, self.serial, self.landed = EventQueue(), 0, 0
        self.log: Log | None = Log() if log else None
        self.hub = getcurrent()
        self.quiet = Errand(self, None)
        self.errand: Errand | None = None
        self.running, self.closed = True, False
        self.inexact = 0  # how often a priced collective and other messages may have met at a port
        self.overhead = cluster.overhead
        self.pricing = cluster.priced and not cluster.crash and not cluster.link_jitter
        self.crowded = any(port.owner == SHARED for port in self.ports)
        self.instant = any(port.owner != INNER and not port.latency for port in self.ports)
        self.ranks: list = []
        self.lifecycle = self.ticket = self.played = None  # who looks after ranks, and how they do collectives
        self.meetings: dict = {}  # open collectives, by group and number
        self.routes: dict = {}  # what pricing knows of the network, by group
        self.tell = lambda event: None

    def strands(self) -> list:
        """All that can run: every rank and, beside some, its stream of posted collectives."""
        ranks = [rank for rank in self.ranks if rank is not None]
        return ranks + [rank.stream for rank in ranks if rank.stream is not None]

    def is_plain(self, rank: int) -> bool:
        """Does nobody but the rank itself use its own port, and in the order of its program?"""
        return not self.ranks or self.ranks[rank].plain

    @property
    def time(self) -> float:
        return self.queue.time

    def at(self, time: float, thing) -> None:
        """Let a rank go on, or an errand be done, at `time`, after all messages of that moment."""
        self.serial += 1
        thing.alarm = self.serial
        self.queue.push(time, (LAST, self.serial, thing))

    def soon(self, thing) -> None:
        """Let a rank go on, or an errand be done, before anything else happens."""
        self.serial += 1
        thing.alarm = self.serial
        self.queue.push(self.queue.time, (FIRST, self.serial, thing))

    def next(self, once: bool = False):
        """Let events happen until somebody can go on: that rank, or an errand; `quiet` if nothing can happen any more.

        Once: only one event, so that perhaps nobody (None) can go on.
        """
        queue = self.queue
        while True:
            today = queue.today
            event = today.pop() if today and not queue.late else queue.pop()
            if event is None:
                thing = self._due(self.quiet)
            elif len(event) > 3:
                thing = self.move(event)
            else:  # unless something else has woken it before
                thing = self._due(event[2]) if event[2].alarm == event[1] else None
            if thing is not None or once:
                return thing

    def _due(self, thing):
        thing.alarm = None
        if type(thing) is Errand:
            self.errand = thing
        return thing

    def move(self, event: tuple):
        """A first byte reaches a port; behind the last port the message is here, and perhaps somebody waits for it."""
        _, serial, lane, hop, data, nbytes, sent, tail, code, lasti = event
        ports = lane.ports
        ahead = len(ports) - hop
        if ahead:
            port, time, frees = ports[hop], self.queue.time, self.free
            free = frees[port]
            start = time if time > free else free
            frees[port] = free = start + nbytes * self.per_byte[port]
            self.seen[port] = time
            if time <= self.priced[port]:
                self.inexact += 1
            latency = self.latency[port]
            tail = (tail if tail > free else free) + latency
            if ahead > 1:
                head = start + latency
                tie = (hash((lane.salt, head)) >> SHIFT) * TIE
                self.queue.push(head, (tie, serial, lane, hop + 1, data, nbytes, sent, tail, code, lasti))
                return None
        if self.log is not None:
            self.log.flat += (sent, tail, lane.ends, nbytes, code, lasti)
        rank, lane.seen = lane.dest, serial
        if rank.wants is lane:
            rank.wants, rank.given, rank.here = None, event, tail
            return rank
        return rank._keep(event, lane, tail)

    def drop(self, source: int) -> None:
        """A rank has died: what it sent and somebody holds back is lost. Here nobody does (but see controlled.py)."""

    def pause(self) -> Errand:
        """Who goes on where `running` is False: the hub, which lets one event happen at a time or has ended the run."""
        if self.closed:
            raise GreenletExit
        return self.quiet


# ---- the message log as the engine writes it: a row of six entries per message, all rows in one list ----


class Log:
    """Iterating gives (sent, here, (source, dest, channel), nbytes, code, lasti), in the order of coming."""

    __slots__ = ("flat",)

    def __init__(self):
        self.flat: list = []

    def __iter__(self) -> Iterator[tuple]:
        entries = iter(self.flat)
        return zip(*[entries] * 6, strict=True)


# ---- how a greenlet is made: with a C stack that may be looked up ----


CALLS = [call] * 5  # two C frames each


def deep_greenlet(work, hub: greenlet) -> greenlet:
    """A greenlet that calls `work`, at least ten C frames below its own start.

    A greenlet's stack begins in the middle of the hub's; what lies above its start belongs to others, and changes.
    NumPy looks up: before it reuses a temporary of 256 KB or more it asks `backtrace` for ten callers. Since Python
    3.11 a Python function that calls another adds no C frame, so a rank's program, however deep in calls, would stand
    about five frames below its start: the unwinder would walk off into garbage, and the process die of it.

    `operator.call(f, x)` is f(x), called from C: it adds frames there, and none to a traceback. `work` pays once, a
    switch some twenty nanoseconds, since it saves 0.6 KB more.
    """
    return greenlet(partial(*CALLS, work), parent=hub)
