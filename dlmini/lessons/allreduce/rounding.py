"""Lesson 04: floating-point addition is not associative, so a sum depends on the order in which it is added.

    |computed - exact| <= (N-1) 2^-24 sum |x_i|        float32, to first order, in any order
Higham, The accuracy of floating point summation, SIAM Journal on Scientific Computing 14, 1993.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlmini.comm.launch import launch
from dlmini.sim import Simulated


def vectors(n: int, length: int, seed: int = 0) -> list[np.ndarray]:
    """One for each rank, with numbers of very different sizes, as gradients have them."""
    draws = [np.random.default_rng([seed, rank, 0, 4]) for rank in range(n)]
    return [(g.standard_normal(length) * 10 ** g.uniform(-3, 3, length)).astype(np.float32) for g in draws]


def summed(how, xs: list[np.ndarray], seed: int = 0) -> list[np.ndarray]:
    """What each rank holds after the all-reduce `how`: a schedule, or a program of one's own, how(comm, x)."""
    program = how if callable(how) else lambda comm, x: comm.allreduce(x, how)
    return list(launch(lambda comm: program(comm, xs[comm.rank]), on=Simulated(len(xs), seed=seed)))


def alike(found: Sequence[np.ndarray]) -> bool:
    """Do all ranks hold the same bits?"""
    return all(one.tobytes() == found[0].tobytes() for one in found)


def first_come(comm, x: np.ndarray) -> np.ndarray:
    """A star that adds in the order of coming. The sum is right but for rounding, and rounding depends on luck."""
    if comm.rank:
        comm.send(0, x)
        return comm.recv(0)
    total = x.copy()
    for _ in range(comm.size - 1):
        total += comm.recv_any()[1]
    for dest in range(1, comm.size):
        comm.send(dest, total)
    return total


def misses(found: np.ndarray, xs: list[np.ndarray]) -> float:
    """How far off the worst number is, in units of 2^-24 times the sum of all magnitudes that went into it."""
    exact, size = np.sum(xs, axis=0, dtype=np.float64), np.abs(xs).sum(axis=0, dtype=np.float64)
    return float((np.abs(found - exact) / size).max() * 2**24)
