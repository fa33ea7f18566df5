"""Around the ring: everybody sends to the right and receives from the left, one chunk at a time.

    reduce-scatter   at step t rank i passes on chunk (i - t) mod N and adds its own to chunk (i - t - 1) mod N
    all-gather       at step t rank i passes on chunk (i + 1 - t) mod N

    time   2 (N-1) alpha + 2 (N-1)/N S beta + (N-1)/N S gamma         bytes sent per rank   2 (N-1)/N S
    sum    chunk c is ((x_c + x_c+1) + x_c+2) + ... around the ring, from rank c to rank c - 1, its home

Optimal in bytes; its 2 (N-1) latencies hurt when N is large and the vector short.
Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 2009.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from dlmini.comm.schedules.step import Plan, Step


def lap(size: int, r, first: int, add: bool) -> Iterator[Step]:
    """Once around: N - 1 steps; `first` is where, counted from one's own number, the first chunk lies."""
    right, left, chunk = (r + 1) % size, (r - 1) % size, wheel(size, r)
    for t in range(size - 1):
        yield Step(right, *chunk(first - t), left, *chunk(first - t - 1), add)


def wheel(size: int, r):
    """chunk(d): where chunk (r + d) mod N begins and ends. For all ranks, two windows on a wheel that turns."""
    if not isinstance(r, np.ndarray):
        return lambda d: ((r + d) % size, (r + d) % size + 1)
    begin = np.arange(2 * size) % size
    end = begin + 1
    return lambda d: (begin[d % size : d % size + size], end[d % size : d % size + size])


@dataclass(frozen=True)
class Ring:
    """2 (N-1) steps of one chunk each: the fewest bytes, the most latencies."""

    def allreduce(self, size: int) -> Plan:
        return Plan("ring", size, size, lambda r: chain(scatter(size, r), gather(size, r)), homes(size), None, True)

    def reduce_scatter(self, size: int) -> Plan:
        return Plan("ring reduce-scatter", size, size, lambda r: scatter(size, r), homes(size), homes(size), True)

    def allgather(self, size: int) -> Plan:
        return Plan("ring all-gather", size, size, lambda r: gather(size, r), homes(size), homes(size), True)


def scatter(size: int, r) -> Iterator[Step]:
    return lap(size, r, first=0, add=True)


def gather(size: int, r) -> Iterator[Step]:
    return lap(size, r, first=1, add=False)


def homes(size: int) -> np.ndarray:
    """Chunk c comes home to rank c - 1."""
    return (np.arange(size) - 1) % size


ring = Ring()
