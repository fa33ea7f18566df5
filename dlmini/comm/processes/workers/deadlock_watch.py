"""Has everything come to a stop? Ranks that wait for one another say nothing, so the parent looks at the board.

A rank that has waited for long sleeps, and whoever has news for it rings its bell. If all ranks sleep, no bell has rung
since, and no word of the board changes for a while, then nobody will ever be woken: a deadlock. A rank that computes or
prints does not sleep; one with messages under way will wake by itself.
"""

from __future__ import annotations

import numpy as np

from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.shared_area import SharedArea

TICK = 0.1  # seconds between two looks
LOOKS = 5  # looks in a row that must find everything at rest


class DeadlockWatch:
    """`look()` says True when it has been still for long enough."""

    def __init__(self, area: SharedArea):
        self.words = area.words[: layout.length(area.size)]
        firsts = np.array([layout.rank_words(rank) for rank in range(area.size)])
        self.asleep, self.bells, self.held = firsts + layout.ASLEEP, firsts + layout.BELL, firsts + layout.HELD
        self.before, self.still, self.alive = self.words.copy(), 0, np.ones(area.size, bool)

    def forget(self, rank: int) -> None:
        """It has died, and counts as one that rests."""
        self.alive[rank] = False

    def look(self) -> bool:
        now, before = self.words.copy(), self.before
        asleep, held = now[self.asleep] == now[self.bells] + 1, now[self.held] != 0
        resting = (asleep & ~held)[self.alive].all()
        self.still = self.still + 1 if resting and np.array_equal(now, before) else 0
        self.before = now
        return self.still >= LOOKS
