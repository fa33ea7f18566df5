"""Lanes: the way of all messages of one (source, dest, channel), and what lies unread at its end.

A message on its way is a tuple in the event queue, at the moment its first byte reaches the port `ports[hop]`:

    (tie, serial, lane, hop, data, nbytes, sent, tail, code, lasti)

`sent` is when send was called, `tail` the earliest time for the last byte, `code` and `lasti` where in the program.
What has come but is not yet taken is a letter: (when it is here, number of its landing, lane, message).
"""

from __future__ import annotations

from heapq import heappop, heappush
from sys import _getframe

from greenlet import getcurrent
from numpy import ndarray

from dlmini.comm.channels import checked_tag
from dlmini.comm.wire import copied
from dlmini.sim.engine import SHIFT, TIE
from dlmini.sim.event_queue import POST
from dlmini.sim.source_lines import outside

LANE, DATA, NBYTES, SENT, CODE, LASTI = 2, 4, 5, 6, 8, 9


SLOTS = "box channel departed dest ends first last latency line origin own per_byte ports queue salt seen source to"


class Lane:
    """From `source` to `dest` (ranks) over `ports`. `last` and `seen` number the last message sent and landed."""

    __slots__ = tuple(SLOTS.split())

    def __init__(self, engine, source, dest, channel: int):
        self.source, self.dest, self.channel = source, dest, channel
        self.origin, self.to, self.ends = source.rank, dest.rank, (source.rank, dest.rank, channel)
        self.line = source.ledger.line(dest.rank, channel)
        self.box: list[tuple] = []  # letters, in the order of sending
        self.queue: Queue | None = None
        self.last, self.seen, self.departed = 0, 0, 0.0
        self.ports = engine.cluster.network.route(source.rank, dest.rank, engine.size)
        first = engine.ports[self.ports[0]] if self.ports else None
        self.own = first is not None and first.owner == source.rank
        self.first, self.salt = self.ports[0] if self.ports else None, hash((engine.seed, source.rank))
        self.latency, self.per_byte = (first.latency, first.per_byte) if first else (0.0, 0.0)

    def lost(self, gone) -> object | None:
        """Who is gone so that nothing can come any more, if anybody: the source, and nothing is under way."""
        return self.source if self.source in gone and self.last == self.seen else None


class Queue(list):
    """All letters of one channel as a heap, for those who receive from anybody.

    A letter that is taken from its lane by name stays here until it comes up.
    """

    def __init__(self, channel: int):
        self.channel = channel

    def attach(self, lane: Lane) -> None:
        lane.queue = self
        for letter in lane.box:
            heappush(self, letter)

    def first(self):
        """The letter that is here first, or None."""
        while self and not (self[0][2].box and self[0][2].box[0] is self[0]):
            heappop(self)
        return self[0] if self else None


# ---- sending in virtual time ----


class Outbox:
    """How messages of a rank set out."""

    __slots__ = ()

    def send(self, dest: int, message, tag: int = 0) -> None:
        lane = self.out  # most often the way of the message before: nothing to check
        if lane is None or lane.to != dest or lane.channel != tag:
            self.out = lane = self._lane_to(self._checked(dest, "send to"), checked_tag(tag))
        frame = _getframe(1)
        self._fly(lane, message, frame.f_code, frame.f_lasti)

    def _fly(self, lane: Lane, message, code, lasti: int) -> None:
        """A message sets out: copied like `wire.copied`, booked like `_book_sent`, in its port like `Engine.move`.

        The simulator's hottest lines, and therefore written out: few calls, few lookups.
        """
        engine, clock, line = self.engine, self.clock, lane.line
        if getcurrent() is not self.greenlet:
            self._reject()
        if type(message) is ndarray and not message.dtype.hasobject:
            data = message.copy()
            nbytes = data.nbytes
        else:
            data, nbytes = copied(message)
        engine.serial = serial = engine.serial + 1
        if lane.own and self.plain:  # a port of my own: nobody else's message can come before this one
            frees, first, latency = engine.free, lane.first, lane.latency
            free = frees[first]
            start = clock if clock > free else free
            frees[first] = free = start + nbytes * lane.per_byte
            head = start + latency
            tie = (hash((lane.salt, head)) >> SHIFT) * TIE
            event = (tie, serial, lane, 1, data, nbytes, clock, free + latency, code, lasti)
        else:
            head = self._departure(lane)
            tie = (hash((lane.salt, head)) >> SHIFT) * TIE + (POST if lane.ports else 0.0)
            event = (tie, serial, lane, 0, data, nbytes, clock, clock, code, lasti)
        day = engine.queue.days.get(head)
        if day is None:
            engine.queue.push(head, event)
        else:
            day.append(event)
        lane.last = serial
        line[0] += 1
        line[1] += nbytes
        if engine.overhead:
            self.clock = clock + engine.overhead
            self._book_time(clock, clock, self.clock)

    def _send(self, dest: int, message, channel: int) -> None:
        self._fly(self._lane_to(dest, channel), message, *self._line(_getframe(1)))

    def _lane_to(self, dest: int, channel: int) -> Lane:
        lane = self.outs.get((dest, channel))
        if lane is None:
            lane = self.outs[dest, channel] = self.engine.ranks[dest]._lane_from(self.rank, channel)
        return lane

    def _line(self, frame) -> tuple:
        """The line of the program that a call of the library's came from."""
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
