"""Sending in virtual time."""

from __future__ import annotations

from sys import _getframe

from greenlet import getcurrent
from numpy import ndarray

from dlmini.comm.channels import checked_tag
from dlmini.comm.wire import copied
from dlmini.sim.agenda import POST
from dlmini.sim.engine import SHIFT, TIE
from dlmini.sim.lane import Lane
from dlmini.sim.places import outside


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
        day = engine.agenda.days.get(head)
        if day is None:
            engine.agenda.push(head, event)
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
