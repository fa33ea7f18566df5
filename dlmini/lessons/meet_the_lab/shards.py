"""Lesson 00: which rows are mine? And a first thing computed together: a mean, shard by shard."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def shard(n: int, size: int, rank: int) -> tuple[int, int]:
    """Rows [r n // N, (r + 1) n // N): every row has one owner, and no shard has two rows more than another."""
    return rank * n // size, (rank + 1) * n // size


RULES: dict[str, Callable[[int, int, int], tuple[int, int]]] = {
    "n // N rows each": lambda n, size, rank: (rank * (n // size), (rank + 1) * (n // size)),
    "⌈n / N⌉ rows each, the last gets the rest": lambda n, size, rank: (
        min(n, rank * -(-n // size)),
        min(n, (rank + 1) * -(-n // size)),
    ),
    "edges at r n // N": shard,
}


def mean_of(comm, x: np.ndarray, flops: float = 100.0) -> float:
    """The mean of x, of which each rank adds up its own shard; rank 0 collects and tells everybody.

    flops: what a number costs in virtual time. (100 stands for a small function of it, not for one addition.)
    """
    lo, hi = shard(len(x), comm.size, comm.rank)
    part = comm.compute("my shard", lambda: float(x[lo:hi].sum()), flops=flops * (hi - lo))
    if comm.rank:
        comm.send(0, part)
        return comm.recv(0)
    mean = (part + sum(comm.recv(source) for source in range(1, comm.size))) / len(x)
    for dest in range(1, comm.size):
        comm.send(dest, mean)
    return mean
