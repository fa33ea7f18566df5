"""When every byte was sent: a look is charged with all that had left by then, whoever is in the middle of a round.

Ranks tell what they have sent when their round ends. At a look of worker 0 others may be in the middle of theirs, with
the whole round sent: whoever counts by rounds gives it to them for nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from math import inf

from dlmini.comm.ledger import Ledger


class Line(list):
    """[messages, bytes] of a ledger's line; bytes are noted with the time of the rank that sends them."""

    __slots__ = ("notes", "rank")

    def __init__(self, rank, notes: list):
        super().__init__((0, 0))
        self.rank, self.notes = rank, notes

    def __setitem__(self, place, value):
        if place == 1:
            self.notes.append((self.rank.clock, value - self[1]))
        super().__setitem__(place, value)


class TimedLedger(Ledger):
    """A ledger of lines that know the time."""

    __slots__ = ("notes", "owner")

    def __init__(self, owner, notes: list):
        super().__init__(owner.rank)
        self.owner, self.notes = owner, notes

    def line(self, dest: int, channel: int) -> Line:
        if (dest, channel) not in self.lines:
            self.lines[dest, channel] = Line(self.owner, self.notes)
        return self.lines[dest, channel]


class Books:
    """(time, bytes) of every message of a run in virtual time."""

    def __init__(self):
        self.notes: list[tuple[float, int]] = []
        self.engine = None

    def open(self, engine) -> None:
        """Before anything is sent. A collective that is computed as one counts from the arrival of each rank."""
        self.engine = engine
        for rank in engine.ranks:
            rank.ledger = TimedLedger(rank, self.notes)

    def whole_until(self) -> float:
        """Until when they are whole. In a run that was ended some ranks are ahead, and others might still have sent
        what belongs before; who waits will not, until the time that messages have come to."""
        alive = (rank for rank in self.engine.ranks if rank.state == "alive")
        return min((max(rank.clock, self.engine.time) for rank in alive), default=inf)

    def sent_by(self, times: list[float]) -> list[int]:
        """Bytes that all ranks together had sent at each of these times."""
        notes = sorted(self.notes)
        totals = [0, *accumulate(nbytes for _, nbytes in notes)]
        return [totals[bisect_right(notes, at, key=lambda note: note[0])] for at in times]
