"""One message one way between two processes: half a ping-pong of a float32 vector (goal PERF-7).

Short ones are compared with mpi4py's `send` and `recv`, which pickle as ours pack: any message, no buffers. Long ones
are compared with `Send` and `Recv` between buffers that lie ready; ours arrive in new arrays, as the interface says.
"""

import statistics
import time

import numpy as np

from benchmarks.crews import Crew, missing
from benchmarks.timing import goal
from dlmini.comm.processes import Processes

SHORT = {"4 B": 1, "256 B": 2**6, "4 KB": 2**10}  # numbers of 4 bytes
LONG = {"64 KB": 2**14, "1 MB": 2**18, "8 MB": 2**21}
ROUNDS = 9
MICROSECONDS = (12, 5)  # floor and aim of a short message ...
PICKLED, BUFFERS = (1.0, 2.0), (0.8, 1.2)  # ... and of the ratios to mpi4py
CROWD = 4  # ranks that pass messages around a ring: on two cores, twice as many as these


def ours(count: int, reps: int) -> float:
    return max(Processes(2).run(to_and_fro, (count, reps)).values)


def to_and_fro(comm, count: int, reps: int) -> float:
    """Seconds for a message one way."""
    x, other = np.ones(count, np.float32), 1 - comm.rank
    for timed in (reps // 4 + 1, reps):  # the first ones only warm up
        comm.barrier()
        start = time.perf_counter()
        for _ in range(timed):
            if comm.rank == 0:
                comm.send(other, x)
                comm.recv(other)
            else:
                comm.recv(other)
                comm.send(other, x)
    return (time.perf_counter() - start) / (2 * reps)


def around(comm, count: int, reps: int) -> float:
    """Seconds of a step in which everybody sends to the next rank and receives from the one before."""
    x, (before, after) = np.ones(count, np.float32), ((comm.rank + step) % comm.size for step in (-1, 1))
    for timed in (reps // 4 + 1, reps):
        comm.barrier()
        start = time.perf_counter()
        for _ in range(timed):
            comm.send(after, x)
            comm.recv(before)
    return (time.perf_counter() - start) / reps


def repetitions(count: int) -> int:
    """Enough for some twenty milliseconds."""
    return max(20, min(1000, 2**25 // count))


def measured(crew: Crew | None, how: str, count: int) -> tuple[float, float | None]:
    """Median seconds, ours and the peer's, in turns."""
    mine, theirs, reps = [], [], repetitions(count)
    for _ in range(ROUNDS):
        mine.append(ours(count, reps))
        if crew:
            theirs.append(crew.seconds((how, count), reps) / 2)
    return statistics.median(mine), statistics.median(theirs) if theirs else None


def one_way(crew: Crew | None, label: str, count: int) -> list[dict]:
    how, aims = ("pickled", PICKLED) if label in SHORT else ("buffers", BUFFERS)
    mine, theirs = measured(crew, how, count)
    shown, rows = f"{mine * 1e6:.1f} us", []
    if label in SHORT:
        rows.append(goal(f"{label} one way", 1e6 * mine, "us", *MICROSECONDS))
    if theirs:
        name = f"{label} one way, mpi4py {how}"
        rows.append(row(name, shown, f"{theirs * 1e6:.1f} us", theirs / mine, *aims))
    return rows or [row(f"{label} one way", shown, "")]


def crowded(crew: Crew | None, label: str, count: int) -> dict:
    """Where ranks outnumber cores: no goal but that of not collapsing."""
    mine, theirs, reps = [], [], repetitions(4 * count)
    for _ in range(ROUNDS):
        mine.append(max(Processes(CROWD).run(around, (count, reps)).values))
        if crew:
            theirs.append(crew.seconds(("around", count), reps))
    found = statistics.median(mine)
    if not theirs:
        return row(f"{label} around {CROWD} processes", f"{found * 1e6:.1f} us", "")
    other = statistics.median(theirs)
    return row(f"{label} around {CROWD} processes", f"{found * 1e6:.1f} us", f"{other * 1e6:.1f} us", other / found)


def row(name: str, ours: str, peer: str, ratio=None, floor=None, aim=None) -> dict:
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio, "floor": floor, "aim": aim}


def rows() -> list[dict]:
    absent, table = missing("Open MPI"), []
    crews = {} if absent else {size: Crew("Open MPI", size) for size in (2, CROWD)}
    try:
        for label, count in (SHORT | LONG).items():
            table += one_way(crews.get(2), label, count)
        table += [crowded(crews.get(CROWD), label, (SHORT | LONG)[label]) for label in ("4 B", "64 KB", "1 MB")]
    finally:
        for crew in crews.values():
            crew.close()
    return table + ([row("mpi4py", "", f"left out: {absent}")] if absent else [])
