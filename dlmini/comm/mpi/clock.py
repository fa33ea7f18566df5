"""One clock for all ranks, by ping-pong.

A rank asks rank 0 for the time, many times, and believes the answer that came back fastest. If it was asked at a,
answered at b (own clock) and the answer says s, then rank 0's clock is ahead of ours by

    s - (a + b) / 2        wrong by at most (b - a) / 2, half the round trip

Clocks of different machines drift apart by some 10 us a second; a run of hours on several hosts is less well aligned.
Cristian, Probabilistic clock synchronization, Distributed Computing 3, 1989.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

ROUNDS = 20


def offset_to_rank_0(mpi, clock: Callable[[], float]) -> float:
    """Seconds to add to `clock()` here to read rank 0's. All ranks call it; rank 0 answers them one after the other."""
    if mpi.rank == 0:
        for other in range(1, mpi.size):
            answer(mpi, other, clock)
        return 0.0
    tries = [ask(mpi, clock) for _ in range(ROUNDS)]
    return min(tries)[1]


def ask(mpi, clock: Callable[[], float]) -> tuple[float, float]:
    """(round trip, offset) of one question."""
    said = np.empty(1)
    asked = clock()
    mpi.Send(np.empty(0), 0)
    mpi.Recv(said, 0)
    back = clock()
    return back - asked, float(said[0]) - (asked + back) / 2


def answer(mpi, other: int, clock: Callable[[], float]) -> None:
    for _ in range(ROUNDS):
        mpi.Recv(np.empty(0), other)
        mpi.Send(np.array([clock()]), other)
