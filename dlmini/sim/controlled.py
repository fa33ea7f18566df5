"""A simulation that obeys a Control: somebody pauses it, slows ranks, cuts links, kills ranks, while it runs.

Orders are given in another thread and obeyed in the simulation's own, whenever a rank emits an event. While all wait
for a link to be healed, virtual time passes as fast as real time.
"""

from __future__ import annotations

import time

import numpy as np

from dlmini.comm.control import Control, length
from dlmini.comm.errors import CommError
from dlmini.events import Event, Round
from dlmini.sim.engine import Engine
from dlmini.sim.pricing.meeting import Ticket

NAP = 0.02  # seconds between two looks of a simulation that is held


class CutTicket(Ticket):
    """A rank that would receive over a cut link does not come to a priced collective until it is healed."""

    def arrive(self, time: float) -> None:
        engine = self.rank.engine
        source = engine.control.blocked_from(self.plan, self.comm.rank, getattr(self.comm, "ranks", None))
        if source is None:
            super().arrive(time)
        else:
            engine.control.waits[self.rank.rank] = 1 + source
            engine.outside.append((self, time))


class ControlledEngine(Engine):
    """Messages over a cut link are held at the port they come to."""

    def __init__(self, control: Control, *args):
        super().__init__(*args)
        self.control = control
        self.held: dict[object, list[tuple]] = {}  # messages by lane, in their order
        self.outside: list[tuple[CutTicket, float]] = []  # who has not come to a collective, and since when

    def move(self, event: tuple):
        lane = event[2]
        if lane in self.held or self.control.blocks(lane.origin, lane.to):
            if lane.origin in self.lifecycle.deaths:
                lane.seen = event[1]
                return None
            self.control.waits[lane.to] = 1 + lane.origin
            self.held.setdefault(lane, []).append(event)
            return None
        return super().move(event)

    def drop(self, source: int) -> None:
        """What a dead rank sent over a cut link is lost."""
        for lane in [lane for lane in self.held if lane.origin == source]:
            self.control.waits[lane.to] = 0
            lane.seen = self.held.pop(lane)[-1][1]

    def _due(self, thing):
        """Nothing can happen any more: unless a link is healed."""
        if thing is not self.quiet or not (self.held or self.outside):
            return super()._due(thing)
        began = time.monotonic()
        while not self.release(self.time + time.monotonic() - began):
            time.sleep(NAP)
            if self.control.stopping:
                raise CommError("the run was cancelled")
        return None

    def release(self, now: float) -> bool:
        """Let on what is held no longer. Was there anything?"""
        healed = [lane for lane in self.held if not self.control.blocks(lane.origin, lane.to)]
        for lane in healed:
            self.control.waits[lane.to] = 0
            events = self.held.pop(lane)
            for _, serial, _, hop, data, nbytes, sent, tail, *where in events:  # one tie for all: they keep their order
                self.queue.push(now, (events[0][0], serial, lane, hop, data, nbytes, sent, max(tail, now), *where))
        before, self.outside = self.outside, []
        for ticket, since in before:
            self.control.waits[ticket.rank.rank] = 0
            ticket.arrive(max(since, now))
        return bool(healed) or len(self.outside) < len(before)


class Obedience:
    """What a simulation does with the orders it gets."""

    def __init__(self, control: Control, engine: ControlledEngine):
        self.control, self.engine, self.seen = control, engine, -1
        self.doomed: list[int] = []
        self.speeds = [rank.speed for rank in engine.ranks]
        control.bind(np.empty(length(control.size)), self.doomed.append, lambda: None)
        self._obey()

    def heed(self, event: Event) -> None:
        """After an event: obey what is new; at the end of a round perhaps wait."""
        self._obey()
        if isinstance(event, Round):
            self.control.done[event.rank] = event.t + 1
            while self.control.holds(event.rank):
                time.sleep(NAP)
                self._obey()
        if self.control.stopping:
            raise CommError("the run was cancelled")

    def _obey(self) -> None:
        if self.control.version == self.seen:
            return
        self.seen = self.control.version
        for rank, speed, factor in zip(self.engine.ranks, self.speeds, self.control.factor.tolist(), strict=True):
            rank.speed = speed / factor
        while self.doomed:
            rank = self.engine.ranks[self.doomed.pop()]
            rank.dies = rank.clock  # it notices at its next local work
        self.engine.release(self.engine.time)
