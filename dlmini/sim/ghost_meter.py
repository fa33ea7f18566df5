"""What ranks hold, in ghosts: weighed as they come and go, by the rank that made them and its line.

    grows    a rank's time is cut into eight parts, and the least that it holds in each is more than in the one before.
             Weights, which stay, and micro-batches, which come and go, do not grow; two or more steps tell them apart.
A sum counts for the rank that gets it; what is received, or gathered, where it was made.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from contextlib import contextmanager
from functools import reduce
from itertools import pairwise

from greenlet import getcurrent

from dlmini.comm.errors import CommError
from dlmini.comm.ghost import Ghost
from dlmini.sim.pricing.meeting import Ticket
from dlmini.sim.source_lines import outside, place

PARTS, MOST = 8, 512  # parts of a rank's time that are compared; moments that are remembered


class MemoryGrows(CommError):
    """Ghosts that a rank holds outgrow its device, or become ever more. rank: whose; where: the line that makes them"""

    def __init__(self, text: str, rank: int, where: str):
        super().__init__(text)
        self.rank, self.where = rank, where


class Holdings:
    """What one rank holds: bytes by the line that made them, now and at each moment of its clock."""

    def __init__(self, comm):
        self.comm, self.lines, self.total, self.moments, self.at = comm, Counter(), 0, [], comm.clock

    def change(self, line, nbytes: int) -> None:
        if self.at != self.comm.clock:
            self.at = self.comm.clock
            self.moments.append(dict(self.lines))
            if len(self.moments) > MOST:
                self.moments = [fewer(a, b) for a, b in zip(self.moments[::2], self.moments[1::2], strict=False)]
        self.lines[line] += nbytes
        self.total += nbytes

    def growth(self) -> tuple | None:
        """(the line that grows most, bytes from one part of the time to the next), if all in all it grows."""
        length = len(self.moments) // PARTS
        if length < 2:
            return None
        parts = [self.moments[i * length : (i + 1) * length] for i in range(PARTS)]
        least = [min(sum(moment.values()) for moment in part) for part in parts]
        if any(after <= before for before, after in pairwise(least)):
            return None
        middle, last = (reduce(fewer, part) for part in (parts[PARTS // 2], parts[-1]))
        line = max(last, key=lambda one: last[one] - middle.get(one, 0))
        return line, (least[-1] - least[PARTS // 2]) / (PARTS - 1 - PARTS // 2)


def fewer(a: dict, b: dict) -> dict:
    """The less of each."""
    return {line: min(a[line], b[line]) for line in a.keys() & b.keys()}


class Meter:
    """Weighs ghosts as they come and go; a rank is found by its greenlet."""

    def __init__(self, room: float):
        self.room, self.ranks, self.made = room, {}, {}

    def born(self, ghost: Ghost) -> None:
        mine = self.ranks.get(getcurrent())
        if mine is not None and ghost.nbytes:
            frame = outside(sys._getframe(2))
            self.hold(mine, ghost, (frame.f_code, frame.f_lasti))
            if mine.total > self.room:
                self.full(mine)

    def hold(self, mine: Holdings, ghost: Ghost, line: tuple) -> None:
        self.made[id(ghost)] = mine, line, ghost.nbytes
        mine.change(line, ghost.nbytes)

    def gone(self, ghost: Ghost) -> None:
        mine, line, nbytes = self.made.pop(id(ghost), (None, None, 0))
        if mine is not None:
            mine.change(line, -nbytes)

    def full(self, mine: Holdings) -> None:
        (line, nbytes), rank = mine.lines.most_common(1)[0], mine.comm.rank
        where = place(*line)
        raise MemoryGrows(
            f"rank {rank} holds {mine.total / 1e9:,.1f} GB at {mine.comm.clock:.6g} s, and has room for "
            f"{self.room / 1e9:,.1f} GB; {nbytes / 1e9:,.1f} GB of it were made here and are still held:\n  {where}",
            rank,
            where,
        )

    def judge(self) -> None:
        """At the end: who grew?"""
        grown = {mine.comm.rank: found for mine in self.ranks.values() if (found := mine.growth())}
        if not grown:
            return
        rank = min(grown)
        (line, pace), others = grown[rank], len(grown) - 1
        where, more = place(*line), f" (and {others} other ranks)" if others else ""
        raise MemoryGrows(
            f"memory of rank {rank}{more} grows by {pace / 1e6:,.3f} MB from one eighth of this run to the next, and "
            f"never falls back; at this pace {self.room / 1e9:,.1f} GB are full after {self.room / pace / PARTS:,.0f} "
            f"runs as long as this. What grows most is made here:\n  {where}\n"
            "Something keeps it: a list, a closure, a message that nobody receives?",
            rank,
            where,
        )


class MeteredTicket(Ticket):
    """A rank's part in a collective: the sum that comes of it is the rank's. It is made by nobody in particular."""

    meter = None

    def leave(self, time: float, share, result) -> None:
        rank, line = self.rank, self.line
        super().leave(time, share, result)
        if isinstance(result, Ghost) and id(result) not in self.meter.made:
            self.meter.hold(self.meter.ranks[rank.greenlet], result, line)


METERS: list[Meter] = []  # of rehearsals that go on now: nested, or in several threads
CHANGING = threading.Lock()
PLAIN = Ghost.__init__


def told_init(self, *given, **named) -> None:
    PLAIN(self, *given, **named)
    for meter in METERS:
        meter.born(self)


def told_del(self) -> None:
    for meter in METERS:
        meter.gone(self)


@contextmanager
def weighed(meter: Meter):
    """While it lasts, ghosts tell the meter when they are made and when they go; otherwise they tell nobody."""
    with CHANGING:
        METERS.append(meter)
        Ghost.__init__, Ghost.__del__ = told_init, told_del
    try:
        yield meter
    finally:
        with CHANGING:
            METERS.remove(meter)
            if not METERS:
                Ghost.__init__ = PLAIN
                del Ghost.__del__


def metered(meter: Meter) -> type[Ticket]:
    """The tickets of a run whose ghosts are weighed."""
    return type("Metered", (MeteredTicket,), {"meter": meter})


def rehearsed(comm, program, args: tuple, meter: Meter):
    """A rank's program, weighed."""
    mine = meter.ranks[getcurrent()] = Holdings(comm)
    try:
        return program(comm, *args)
    finally:
        mine.at = comm.clock  # what is dropped from here on is of no interest
