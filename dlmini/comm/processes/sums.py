"""Sums over ranks in shared memory, seen from Python: which kernel adds, and what to say when it refuses.

Large results lie in memory that is used again: the allocator gives blocks above 32 MB back to the system as soon as
they are free, and each page of the next one would have to be cleared first, which costs more than the sum.
"""

from __future__ import annotations

import sys
from functools import cache
from types import SimpleNamespace

import numpy as np

from dlmini import jit
from dlmini.comm.errors import Cancelled, DeadRank, Unserved
from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.plain import messages as letters
from dlmini.comm.processes.plain import waiting_and_sums as plain
from dlmini.comm.processes.shared_area import SharedArea
from dlmini.jit import at_hand

LARGE = 2**24  # bytes: what is smaller, the allocator keeps by itself
TOO_LARGE = 2**28  # bytes: nobody should hold so much for nothing
KEPT = 2  # results: the one in the program's hands, and the next


def holders(items: list, i: int) -> int:
    """How many hold items[i]; the list itself and this question count too."""
    return sys.getrefcount(items[i])


UNHELD = holders([np.empty(0)], 0)


class ResultBuffers:
    def __init__(self):
        self.arrays: list[np.ndarray] = []

    def empty(self, size: int, dtype: np.dtype) -> np.ndarray:
        """As np.empty. Views hold the array they are views of: so if nobody holds one of ours, it is free."""
        if not LARGE < size * dtype.itemsize <= TOO_LARGE:
            return np.empty(size, dtype)
        for i in range(len(self.arrays)):
            fits = self.arrays[i].size == size and self.arrays[i].dtype == dtype
            if fits and holders(self.arrays, i) == UNHELD:
                return self.arrays[i][:]
        self.arrays = [*self.arrays[-KEPT + 1 :], np.empty(size, dtype)]
        return self.arrays[-1][:]


VERBS = ("a barrier", "an allreduce", "a reduce_scatter")
NAMES = {np.dtype(code).num: np.dtype(code).name for code in np.typecodes["All"]}
FLOAT32 = np.dtype(np.float32)


@cache
def kernels() -> SimpleNamespace:
    """Everything compiled, or its twins. Sums are compiled for float32 (the course's vectors); NumPy adds the rest."""
    if jit.mode() == "numpy":
        return SimpleNamespace(**vars(plain), letters=letters, summing=plain.Sums(), anything=plain.Sums())
    from dlmini.comm.processes.kernels import messages as posting
    from dlmini.comm.processes.kernels import summing, waiting

    return SimpleNamespace(**vars(waiting), letters=posting, summing=summing, anything=plain.Sums(waiting.meet))


class Sums:
    """The area as a place where vectors are added. Each verb gives its result, when I came and when the last did."""

    def __init__(self, area: SharedArea, settings: np.ndarray):
        self.words, self.settings = area.words, settings
        self.rank, self.size = int(settings[layout.RANK]), area.size
        some, way, common = np.empty(1, FLOAT32), kernels().summing, (self.words, settings)
        self.add = at_hand(way.allreduce, some, some, *common, FLOAT32.num, 0.0)
        self.add_part = at_hand(way.reduce_scatter, some, some, *common, FLOAT32.num, 0.0)
        self.come, self.buffers = at_hand(kernels().meet, *common, layout.MEET, 0.0), ResultBuffers()

    def allreduce(self, x: np.ndarray, now: float) -> tuple[np.ndarray, float, float]:
        dtype = x.dtype
        if not x.flags.carray:  # C order, aligned, writable: the one kind of array that kernels are compiled for
            x = x.copy()
        out = np.empty(x.size, dtype) if x.nbytes <= LARGE else self.buffers.empty(x.size, dtype)
        add = self.add if dtype == FLOAT32 else kernels().anything.allreduce
        last = add(x, out, self.words, self.settings, dtype.num, now)
        return (out, now, last) if last >= 0 else self.refuse(last, layout.ALLREDUCE, x)

    def reduce_scatter(self, x: np.ndarray, now: float) -> tuple[np.ndarray, float, float]:
        if not x.flags.carray:
            x = x.copy()
        lo, hi = self.rank * len(x) // self.size, (self.rank + 1) * len(x) // self.size
        out = np.empty(hi - lo, x.dtype)
        add = self.add_part if x.dtype == FLOAT32 else kernels().anything.reduce_scatter
        last = add(x, out, self.words, self.settings, x.dtype.num, now)
        return (out, now, last) if last >= 0 else self.refuse(last, layout.REDUCE_SCATTER, x)

    def meet(self, now: float) -> float:
        last = self.come(self.words, self.settings, layout.MEET, now)
        return last if last >= 0 else self.refuse(last, layout.MEET, np.empty(0))

    def refuse(self, verdict: float, verb: int, x: np.ndarray):
        doing = described(plain.ticket(verb, x.dtype.num, x))
        if verdict == layout.ABORTED:
            raise Cancelled(doing, tuple(self._absent()))
        raise self._deserted(doing) if verdict == layout.GONE else ValueError(self._mismatch())

    def _deserted(self, doing: str) -> Unserved | DeadRank:
        run, ends = (
            self.settings[layout.RUN],
            [self.words[layout.rank_words(r) + layout.FINISHED] for r in range(self.size)],
        )
        if dead := [rank for rank, end in enumerate(ends) if end == -run]:
            return DeadRank(f"rank {self.rank} {doing}, but {have(dead)} died: sums need all ranks")
        gone = [rank for rank, end in enumerate(ends) if end == run]
        return Unserved(
            f"rank {self.rank} {doing}, but {have(gone)} finished without it; all ranks must call the same verbs"
        )

    def _mismatch(self) -> str:
        half = self.words[layout.rank_words(self.rank) + layout.ARRIVED] & 1
        tickets = [int(self.words[layout.rank_words(r) + layout.TICKET + half]) for r in range(self.size)]
        found = "; ".join(f"rank {rank} {described(ticket)}" for rank, ticket in enumerate(tickets))
        if len({ticket >> layout.DTYPE for ticket in tickets}) == 1:
            return f"all ranks must bring vectors of the same length, but {found}"
        return f"all ranks must call the same verbs in one order, with vectors of one kind, but {found}"

    def _absent(self) -> list[int]:
        """Who has not come to the meeting I am at."""
        came = [self.words[layout.rank_words(rank) + layout.ARRIVED] for rank in range(self.size)]
        return [rank for rank in range(self.size) if came[rank] < came[self.rank]]


def described(ticket: int) -> str:
    """For people: `brings 5 float32 to an allreduce`."""
    verb, length = ticket >> layout.VERB, ticket & (1 << layout.DTYPE) - 1
    if verb == layout.MEET:
        return "calls a barrier"
    return f"brings {length} {NAMES[ticket >> layout.DTYPE & 0xFF]} to {VERBS[verb]}"


def have(which: list[int]) -> str:
    return f"{ranks(which)} {'has' if len(which) == 1 else 'have'}"


def ranks(which: list[int]) -> str:
    return f"rank {which[0]}" if len(which) == 1 else f"ranks {', '.join(map(str, which))}"
