"""On the hypercube: in step k everybody trades with the rank whose number differs in one bit.

Any N: the largest power of two below it trades, the others are folded in before and out after (folding.py).
Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, IJHPCA 2005.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dlmini.comm.schedules.folding import pairs
from dlmini.comm.schedules.step import NOBODY, Plan, Step, pick, whole


def corners(size: int) -> int:
    """The largest power of two that is at most `size`."""
    return 1 << (size.bit_length() - 1)


@dataclass(frozen=True)
class Doubling:
    """Trade whole vectors with the neighbour at distance 1, 2, 4 ...: the fewest latencies, the most bytes.

    time   log2 N (alpha + S beta + S gamma)           bytes   S log2 N           (N a power of two)
    sum    pairs, pairs of pairs, ...: (x_0 + x_1) + (x_2 + x_3); addition commutes, so all ranks get the same bits
    """

    def allreduce(self, size: int) -> Plan:
        n = corners(size)
        fold = pairs(size, n)

        def trade(v) -> Iterator[Step]:
            for k in range(n.bit_length() - 1):
                yield Step(v ^ (1 << k), *whole(v, 1), v ^ (1 << k), *whole(v, 1), True)

        def steps(r) -> Iterator[Step]:
            return fold.around(r, 1, trade(fold.number(r))) if size > n else trade(r)

        return Plan("doubling", size, 1, steps, home=np.array([fold.rank(0)]))


@dataclass(frozen=True)
class HalvingDoubling:
    """Halve the vector in each trade until everybody owns 1/N of the sum, then double back (Rabenseifner).

    time   2 log2 N alpha + 2 (N-1)/N S beta + (N-1)/N S gamma           bytes   2 (N-1)/N S        (N a power of two)
    sum    of a chunk: first ranks that differ in the highest bit, last those in the lowest
    """

    def allreduce(self, size: int) -> Plan:
        n = corners(size)
        fold = pairs(size, n)

        def trade(v) -> Iterator[Step]:
            yield from halve(n, v, lambda block: block)
            yield from double(n, v, lambda block: block)

        def steps(r) -> Iterator[Step]:
            return fold.around(r, n, trade(fold.number(r))) if size > n else trade(r)

        return Plan("halving-doubling", size, n, steps, home=fold.rank(np.arange(n)))

    def reduce_scatter(self, size: int) -> Plan:
        """For any N in N chunks: a host keeps its guest's chunk beside its own, and hands it over at the end."""
        n = corners(size)
        fold, edge = pairs(size, n), edges(size, n)

        def steps(r) -> Iterator[Step]:
            if size > n:
                yield Step(fold.host(r), *whole(r, size), fold.guest(r), *whole(r, size), True)
            yield from fold.inside(r, halve(n, fold.number(r), edge))
            if size > n:
                yield Step(fold.guest(r), *one(fold.guest(r)), fold.host(r), *one(r), False)

        chunk = np.arange(size)
        home = pick(fold.host(chunk) == NOBODY, chunk, fold.host(chunk))
        return Plan("halving reduce-scatter", size, size, steps, home, owner=chunk)

    def allgather(self, size: int) -> Plan:
        n = corners(size)
        fold, edge = pairs(size, n), edges(size, n)

        def steps(r) -> Iterator[Step]:
            if size > n:
                yield Step(fold.host(r), *one(r), fold.guest(r), *one(fold.guest(r)), False)
            yield from fold.inside(r, double(n, fold.number(r), edge))
            if size > n:
                yield Step(fold.guest(r), *whole(r, size), fold.host(r), *whole(r, size), False)

        return Plan("doubling all-gather", size, size, steps, home=np.arange(size), owner=np.arange(size))


def halve(n: int, v, edge) -> Iterator[Step]:
    for k in reversed(range(n.bit_length() - 1)):
        peer = v ^ (1 << k)
        yield Step(peer, *block(peer, k, edge), peer, *block(v, k, edge), True)


def double(n: int, v, edge) -> Iterator[Step]:
    for k in range(n.bit_length() - 1):
        peer = v ^ (1 << k)
        yield Step(peer, *block(v, k, edge), peer, *block(peer, k, edge), False)


def edges(size: int, n: int):
    """Corner v's chunks are [edge(v), edge(v + 1)): its own and, before it, its guest's."""
    return lambda v: pick(v < size - n, 2 * v, v + size - n)


def one(chunk) -> tuple:
    return chunk, chunk + 1


def block(v, k: int, edge) -> tuple:
    """The chunks of the 2^k corners around v."""
    first = (v >> k) << k
    return edge(first), edge(first + (1 << k))


doubling, halving_doubling = Doubling(), HalvingDoubling()
