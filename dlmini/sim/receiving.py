"""Receiving in virtual time: by name, from anybody, and looking whether something is here."""

from __future__ import annotations

from heapq import heappop, heappush

from greenlet import getcurrent

from dlmini.comm.channels import ANY, checked_tag
from dlmini.comm.errors import Deadlock
from dlmini.sim.sending import DATA, SENT, Lane, Queue

PATIENCE = 10_000  # polls in vain before somebody asks whether anything can still come


class Mailbox:
    """What has come for a rank: a box per lane, and a queue per channel that was ever asked for anybody's message."""

    __slots__ = ()

    def recv(self, source: int, tag: int = 0):
        """Waits like `_wait_for` and books like `_book_received`, written out: few calls, few lookups."""
        lane, called = self.inn, self.clock
        if lane is None or lane.origin != source or lane.channel != tag:  # seldom: mostly it is the way of the last one
            self.inn = lane = self._lane_from(self._checked(source, "receive from"), checked_tag(tag))
        if lane.box:
            here, _, _, event = lane.box.pop(0)
        else:
            engine = self.engine
            if self.plain and engine.running and lane.source.state == "alive" and getcurrent() is self.greenlet:
                self.wants = lane
                other = engine.next()
                if other is not self:
                    other.greenlet.switch()
                if self.fault is not None:
                    self._give_up()
            else:
                self._wait_for(lane)
            event, here = self.given, self.here
        if here > called:
            self.clock, sent = here, event[SENT]
            begun = called if sent < called else here if sent > here else sent
            if self._work is None and not self.spans:
                phases = self.phases
                phases.waiting += begun - called
                phases.communication += here - begun
            else:
                self._book_time(called, begun, here)
        if not self.plain:
            self._alive()
        return event[DATA]

    def _recv(self, source: int, channel: int):
        self.inn = self._lane_from(source, channel)  # where `recv` looks first, and finds nothing to check
        return self.recv(source, channel)

    def _take_any(self, channel: int) -> tuple[int, object, float]:
        queue = self._queue(channel)
        while True:
            first = queue.first()
            if first is None:
                self._wait_for(queue)
            elif self._caught_up(first[0], queue):
                break
        here, _, lane, event = heappop(queue)
        lane.box.pop(0)
        self.clock = max(self.clock, here)
        self._alive()
        return lane.source.rank, event[DATA], event[SENT]

    def _ready(self, source: int, channel: int) -> bool:
        """Looking costs a little time, or a program that only looks would stop the world."""
        self.clock += self.engine.cluster.poll
        self._alive()
        while not self._caught_up(self.clock, None):
            pass
        box = self._queue(channel) if source == ANY else self._lane_from(source, channel).box
        first = box.first() if source == ANY else box[0] if box else None
        found = first is not None and first[0] <= self.clock
        self.idle = 0 if found else self.idle + 1
        if self.idle >= PATIENCE:
            self._despair()
        return found

    def _ready_within(self, channel: int, seconds: float) -> bool:
        """What comes first: a message, or the time."""
        queue, end = self._queue(channel), self.clock + seconds
        while True:
            first = queue.first()
            here = first is not None and first[0] <= end
            if self._caught_up(first[0] if here else end, queue):
                self.clock = max(self.clock, first[0] if here else end)
                self._alive()
                return here

    def _wait_for(self, what) -> None:
        """Let others go on until `what` has come: straight to whoever can; the hub only starts, ends and diagnoses."""
        engine = self.engine
        if getcurrent() is not self.greenlet:
            self._reject()
        if not self.plain:
            self._alive()
        if type(what) is not Lane or what.source.state != "alive":
            engine.lifecycle.refuse_if_hopeless(self, what)
        self.wants = what
        other = engine.next() if engine.running else engine.pause()
        if other is not self:
            other.greenlet.switch()
        if self.fault is not None:
            self._give_up()

    def _give_up(self) -> None:
        fault, self.fault = self.fault, None
        raise fault

    def _caught_up(self, time: float, queue: Queue | None) -> bool:
        """True if all that happens until `time` has happened; else let it happen, and let the caller look again."""
        if self.engine.queue.time > time or self.settled >= time:
            return True
        self.engine.at(time, self)
        self._wait_for(queue)  # what comes meanwhile may be here even earlier
        if self.alarm is None:
            self.settled = time
        self.wants = self.alarm = None
        return False

    def _despair(self) -> None:
        """If all others poll in vain too, wait or have finished, nothing will ever come."""
        self.idle = 0
        events = self.engine.queue.events()
        if all(type(e[2]) is type(self) and e[2].idle > PATIENCE // 10 for e in events):
            raise Deadlock(f"rank {self.rank} polls for ever: all others poll, wait or have finished")

    def _queue(self, channel: int) -> Queue:
        if channel not in self.queues:
            queue = self.queues[channel] = Queue(channel)
            for lane in self.ins.values():
                if lane.channel == channel:
                    queue.attach(lane)
        return self.queues[channel]

    def _lane_from(self, source: int, channel: int) -> Lane:
        lane = self.ins.get((source, channel))
        if lane is None:
            lane = self.ins[source, channel] = Lane(self.engine, self.engine.ranks[source], self, channel)
            if channel in self.queues:
                self.queues[channel].attach(lane)
        return lane

    def _keep(self, event: tuple, lane: Lane, here: float):
        """A message that the program does not wait for by name. Who can go on by it, if anybody."""
        if self.state == "dead":
            return None
        stream = self.stream
        if stream is not None and stream.wants is lane:
            stream.wants, stream.given, stream.here = None, event, here
            return stream
        engine = self.engine
        engine.landed += 1
        letter = (here, engine.landed, lane, event)
        lane.box.append(letter)
        if lane.queue is not None:
            heappush(lane.queue, letter)
            if self.wants is lane.queue:
                self.wants = None
                return self
        return None
