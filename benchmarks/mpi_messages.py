"""One message between two ranks of MPI, one way: `Mpi` against mpi4py's buffers in the same processes (goal PERF-7).

Half a round trip, all in turn. Of mpi4py: `Send` and `Recv` into an array that is there already; of `Mpi`: what
a program sees, with packing, stamps, books, and a new array for each message. So the goal for small messages is what
`Mpi` adds to it, and for large ones the share of its bandwidth that is left. One array that goes to and fro stays in
the processor's cache; so mpi4py is timed a second time with four arrays, as a program that keeps what it receives.
"""

import statistics
import time
from collections.abc import Callable
from itertools import cycle

import numpy as np

from benchmarks.timing import goal
from dlmini.comm.mpi import Mpi
from dlmini.comm.mpi.mpiexec import missing

SMALL = {"4 B": 1, "4 KB": 2**10}  # numbers of 4 bytes
LARGE = {"64 KB": 2**14, "1 MB": 2**18, "8 MB": 2**21}
ADDED = (10, 5)  # us above mpi4py: accepted, aimed at
SHARE = {"8 MB": (0.9, 1.0)}
ROUNDS, TRIPS, BYTES = 15, 300, 2**27  # of each contender: so many round trips, or so many bytes


def one_way(trip: Callable, reps: int) -> float:
    for _ in range(max(2, reps // 10)):
        trip()
    start = time.perf_counter()
    for _ in range(reps):
        trip()
    return (time.perf_counter() - start) / (2 * reps)


def ours(comm, x: np.ndarray) -> Callable:
    """What comes is sent back and forgotten: every message has just been written by its sender, as in real life."""
    held = [x]

    def there_and_back():
        if comm.rank == 0:
            comm.send(1, held.pop())
            held.append(comm.recv(1))
        else:
            comm.send(0, comm.recv(0))

    return there_and_back


def raw(mpi, arrays: list[np.ndarray]) -> Callable:
    """From one array into the next."""
    turns = cycle(zip(arrays, arrays[1:] + arrays[:1], strict=True))

    def there_and_back():
        x, y = next(turns)
        if mpi.rank == 0:
            mpi.Send(x, 1)
            mpi.Recv(y, 1)
        else:
            mpi.Recv(y, 0)
            mpi.Send(y, 0)

    return there_and_back


def measured(comm, sizes: dict[str, int]) -> dict[str, list[tuple[float, ...]]]:
    """The program: for each size, seconds one way of ours, of mpi4py with one array, and with four."""
    from mpi4py import MPI

    mpi, found = MPI.COMM_WORLD.Dup(), {}
    for label, count in sizes.items():
        reps = max(5, min(TRIPS, BYTES // (8 * count * ROUNDS)))
        x = [np.ones(count, np.float32) for _ in range(6)]
        trips = ours(comm, x.pop()), raw(mpi, x[:1]), raw(mpi, x[1:])
        found[label] = [tuple(one_way(trip, reps) for trip in trips) for _ in range(ROUNDS)]
    mpi.Free()
    return found


def rows() -> list[dict]:
    if why := missing():
        return [{"name": "Mpi", "ours": "", "peer": f"left out: {why}"}]
    found = Mpi(2).run(measured, (SMALL | LARGE,))[0]
    medians = {
        label: [statistics.median(times) for times in zip(*pairs, strict=True)] for label, pairs in found.items()
    }
    return [row for label, pair in medians.items() for row in compared(label, *pair)]


def compared(label: str, ours: float, raw: float, in_turn: float) -> list[dict]:
    one = against(f"{label} one way, Mpi(2), mpi4py", ours, raw, *SHARE.get(label, (None, None)))
    if label in SMALL:
        return [one, goal(f"{label}, added to mpi4py", (ours - raw) * 1e6, "us", *ADDED)]
    return [one, against(f"{label} one way, Mpi(2), mpi4py with four arrays", ours, in_turn)]


def against(name: str, ours: float, peer: float, floor: float | None = None, aim: float | None = None) -> dict:
    times = {"ours": f"{ours * 1e6:.1f} us", "peer": f"{peer * 1e6:.1f} us", "ratio": peer / ours}
    return {"name": name, **times, "floor": floor, "aim": aim}
