"""The simulator, all bookkeeping on (ledger, phases, source lines, message log): microseconds per message, and a priced
ring of 4,096 ranks (goal PERF-4).

There is no peer: the ratio is the accepted time over ours, so that 1 is the floor. A message is a send and a receive of
32 bytes around the ring; starting the ranks is measured by a shorter run and taken off.
"""

import time

import numpy as np

from benchmarks.timing import goal
from dlmini.comm import Ghost, launch, ring
from dlmini.sim import Simulated, price

GOALS = {64: (4.0, 2.0), 512: (5.0, 2.0), 4096: (10.0, 4.0)}  # ranks: accepted and wanted microseconds
ROUNDS = {64: (50, 450), 512: (10, 60), 4096: (2, 10)}
PRICED, PROGRAM = (0.3, 0.1), (1.0, 0.2)  # seconds


def talk(comm, rounds: int) -> None:
    x, right, left = np.zeros(8, np.float32), (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
    for _ in range(rounds):
        comm.send(right, x)
        comm.recv(left)


def seconds(call) -> float:
    """Of processor time: the simulator is one thread that never waits."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def per_message(ranks: int) -> float:
    """Microseconds: the best of several, because neighbours on a shared machine only ever add."""
    few, many = ROUNDS[ranks]

    def run(rounds: int) -> float:
        return min(seconds(lambda: launch(talk, Simulated(ranks, log=True), (rounds,))) for _ in range(9))

    return (run(many) - run(few)) / (many - few) / ranks * 1e6


def rows() -> list[dict]:
    found = [goal(f"message, {ranks} ranks", per_message(ranks), "us", *GOALS[ranks]) for ranks in GOALS]
    x = Ghost(25_000_000)
    price(ring, 4096, x)  # compiles, or loads what was compiled
    alone = min(seconds(lambda: price(ring, 4096, x)) for _ in range(5))
    whole = min(seconds(lambda: launch(lambda comm: comm.allreduce(x), Simulated(4096))) for _ in range(5))
    found.append(goal("priced ring, 4096 ranks", alone, "s", *PRICED))
    found.append(goal("the same in a program, with its ranks", whole, "s", *PROGRAM))
    return found
