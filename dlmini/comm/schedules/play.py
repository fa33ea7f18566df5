"""`play`: the reader of a plan that moves real chunks with send and receive, on any transport."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

import numpy as np

from dlmini.comm.schedules.step import NOBODY, Plan


def play(comm, plan: Plan, store, channel: int):
    """Do my steps of the plan with the chunks in `store`, and return it."""
    for _ in moves(comm, plan, store, channel):
        pass
    return store


def moves(comm, plan: Plan, store, channel: int) -> Iterator[int]:
    """The same with a stop before each receive: yields the rank whose message is needed to go on."""
    for to, lo, hi, source, into, end, add in plan.steps(comm.rank):
        if to != NOBODY:
            comm._send(int(to), store.take(lo, hi), channel)
        if source != NOBODY:
            yield int(source)
            part = comm._recv(int(source), channel)
            if add:
                comm._add(store, into, end, part)
            else:
                store.put(into, end, part)


class Slices:
    """A private copy of a vector, in chunks: chunk c is x[c n // C : (c + 1) n // C]."""

    def __init__(self, x, chunks: int):
        self.x, self.chunks = x.copy(), chunks

    def _span(self, lo: int, hi: int) -> slice:
        n = len(self.x)
        return slice(lo * n // self.chunks, hi * n // self.chunks)

    def take(self, lo: int, hi: int):
        return self.x[self._span(lo, hi)]

    def put(self, lo: int, hi: int, part) -> None:
        here = self._span(lo, hi)
        self.x[here] = fitting(part, here.stop - here.start)

    def add(self, lo: int, hi: int, part) -> None:
        here = self._span(lo, hi)
        self.x[here] += fitting(part, here.stop - here.start)


class Parts:
    """Messages of any kind, one per chunk, each put somewhere by its owner (all-gather, broadcast, barrier)."""

    def __init__(self, chunks: int, mine: int = 0, message=None):
        self.parts = [None] * chunks
        self.parts[mine] = message

    def take(self, lo: int, hi: int):
        return self.parts[lo] if hi - lo == 1 else self.parts[lo:hi]

    def put(self, lo: int, hi: int, part) -> None:
        self.parts[lo:hi] = [part] if hi - lo == 1 else part

    def add(self, lo: int, hi: int, part) -> None:
        """There is nothing to add: who trades empty messages only wants to know that the other has come."""


class Owned(Slices):
    """A vector whose chunks lie where their owners' parts lie: rank r's part is [r n // P, (r + 1) n // P)."""

    def __init__(self, x, plan: Plan):
        super().__init__(x, plan.chunks)
        self.owner = plan.owner.tolist()

    def part(self, rank: int):
        return self.x[self._span(rank, rank + 1)]

    def take(self, lo: int, hi: int):
        parts = [self.part(rank) for rank in self.owner[lo:hi]]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def put(self, lo: int, hi: int, part) -> None:
        for mine, theirs in self._matched(lo, hi, part):
            mine[...] = theirs

    def add(self, lo: int, hi: int, part) -> None:
        for mine, theirs in self._matched(lo, hi, part):
            mine += theirs

    def _matched(self, lo: int, hi: int, part):
        mine = [self.part(rank) for rank in self.owner[lo:hi]]
        ends = list(accumulate(map(len, mine)))
        fitting(part, ends[-1])
        return [(m, part[end - len(m) : end]) for m, end in zip(mine, ends, strict=True)]


def fitting(part, length: int):
    if len(part) == length:
        return part
    raise ValueError(
        f"a chunk of {len(part)} numbers arrived where {length} belong: all ranks must bring vectors of the same length"
    )
