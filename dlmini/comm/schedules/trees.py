"""One rank collects everything and gives it back: directly (naive), or along a binomial tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dlmini.comm.schedules.step import NOBODY, Plan, Step, pick, whole


@dataclass(frozen=True)
class Naive:
    """Everybody sends its vector to rank 0, which adds them in the order of ranks and sends the sum to everybody.

    time   2 alpha + 2 (N-1) S beta, and S gamma to (N-1) S gamma, by the order of arrival: rank 0 is the bottleneck
    bytes  S; rank 0: (N-1) S
    sum    ((x_0 + x_1) + x_2) + ...
    """

    def allreduce(self, size: int) -> Plan:
        return Plan("naive", size, 1, lambda r: self._steps(size, r), home=np.zeros(1, int))

    def _steps(self, size: int, r) -> Iterator[Step]:
        for other in range(1, size):
            yield Step(pick(r == other, 0, NOBODY), *whole(r, 1), pick(r == 0, other, NOBODY), *whole(r, 1), True)
        for other in range(1, size):
            yield Step(pick(r == 0, other, NOBODY), *whole(r, 1), pick(r == other, 0, NOBODY), *whole(r, 1), False)


@dataclass(frozen=True)
class Tree:
    """A binomial tree: reduce to rank 0, then broadcast back along the same edges.

    time   2 log2 N (alpha + S beta) + log2 N S gamma (N a power of two)               bytes   at most S log2 N (root)
    sum    in step k rank r, a multiple of 2^(k+1), adds the sum of ranks r + 2^k ... r + 2^(k+1) - 1 to its own
    """

    def allreduce(self, size: int) -> Plan:
        bits = range((size - 1).bit_length())
        return Plan(
            "tree",
            size,
            1,
            lambda r: (s for up in (True, False) for s in self._way(size, r, bits, up)),
            np.zeros(1, int),
        )

    def reduce(self, size: int, root: int = 0) -> Plan:
        """The first half alone, to any root: ranks are counted from it. Others are left with sums of some ranks."""
        return Plan(f"reduce to {root}", size, 1, lambda r: self._half(size, r, root, True), home=np.full(1, root))

    def bcast(self, size: int, root: int = 0) -> Plan:
        """The second half alone, from any root: ranks are counted from it."""
        return Plan(
            f"broadcast from {root}", size, 1, lambda r: self._half(size, r, root, False), home=np.full(1, root)
        )

    def _half(self, size: int, r, root: int, up: bool) -> Iterator[Step]:
        for s in self._way(size, (r - root) % size, range((size - 1).bit_length()), up):
            to, source = (pick(p == NOBODY, NOBODY, (p + root) % size) for p in (s.to, s.source))
            yield s._replace(to=to, source=source)

    def _way(self, size: int, r, bits: range, up: bool) -> Iterator[Step]:
        for k in bits if up else reversed(bits):
            half = 1 << k
            child, parent = r % (2 * half) == half, (r % (2 * half) == 0) & (r + half < size)
            above, below = pick(child, r - half, NOBODY), pick(parent, r + half, NOBODY)
            to, source = (above, below) if up else (below, above)
            yield Step(to, *whole(r, 1), source, *whole(r, 1), up)


naive, tree = Naive(), Tree()
