"""All-reduce of float32 among processes of one machine: private vectors in and out, sum only (goal PERF-2)."""

import statistics
import time

import numpy as np

from benchmarks.crews import Crew, missing, timed
from dlmini.comm.processes import Processes

SIZES = {"4 KB": 2**10, "64 KB": 2**14, "1 MB": 2**18, "8 MB": 2**21, "64 MB": 2**24}  # numbers of 4 bytes
ROUNDS = 7
GOALS = {("Open MPI", 4): (1.4, 2.5), ("gloo", 2): (4.0, 8.0), ("gloo", 4): (3.5, 7.0)}  # floor and aim
PAIR = {  # the same of two processes against Open MPI, by size
    "4 KB": (1.0, 1.5),
    "64 KB": (1.6, 2.5),
    "1 MB": (1.6, 2.5),
    "8 MB": (1.4, 2.0),
    "64 MB": (3.0, 4.0),
}


def ours(size: int, count: int, reps: int) -> float:
    return max(Processes(size).run(sum_again, (count, reps)))


def sum_again(comm, count: int, reps: int) -> float:
    x = np.ones(count, np.float32)
    return timed(lambda: comm.allreduce(x), reps)


def repetitions(count: int, size: int) -> int:
    """Enough for some twenty milliseconds."""
    return max(3, min(500, 2**23 // (count * size)))


def measured(size: int, rounds: int = ROUNDS) -> tuple[dict, dict]:
    """{(contender, label): median seconds}, and the peers that are missing with the reason."""
    absent = {peer: missing(peer) for peer in ("Open MPI", "gloo") if missing(peer)}
    crews = {peer: Crew(peer, size) for peer in ("Open MPI", "gloo") if peer not in absent}
    times: dict = {}
    try:
        for label, count in SIZES.items():
            reps = repetitions(count, size)
            for _ in range(rounds):
                times.setdefault(("ours", label), []).append(ours(size, count, reps))
                for peer, crew in crews.items():
                    times.setdefault((peer, label), []).append(crew.seconds(count, reps))
    finally:
        for crew in crews.values():
            crew.close()
    return {key: statistics.median(found) for key, found in times.items()}, absent


def compared(size: int) -> list[dict]:
    medians, absent = measured(size)
    rows = []
    for (peer, label), seconds in medians.items():
        if peer == "ours":
            continue
        mine = medians["ours", label]
        floor, aim = PAIR[label] if (peer, size) == ("Open MPI", 2) else GOALS[peer, size]
        name = f"{label}, {size} processes, {peer}"
        rows.append(row(name, f"{mine * 1e6:.1f} us", f"{seconds * 1e6:.1f} us", seconds / mine, floor, aim))
    return rows + [row(f"{size} processes, {peer}", "", f"left out: {why}") for peer, why in absent.items()]


def crowded() -> list[dict]:
    """Many more workers than cores: nobody to compare with, but it must not collapse."""
    found = {label: ours(8, SIZES[label], 50) for label in ("4 KB", "1 MB")}
    return [row(f"{label}, 8 processes", f"{seconds * 1e6:.0f} us", "") for label, seconds in found.items()]


def latency(comm, reps: int) -> float:
    """Seconds for a small message one way: half a round trip."""
    x, start = np.zeros(1, np.float32), time.perf_counter()
    for _ in range(reps):
        if comm.rank == 0:
            comm.send(1, x)
            comm.recv(1)
        else:
            comm.recv(0)
            comm.send(0, x)
    return (time.perf_counter() - start) / (2 * reps)


def row(name: str, ours: str, peer: str, ratio=None, floor=None, aim=None) -> dict:
    return {"name": name, "ours": ours, "peer": peer, "ratio": ratio, "floor": floor, "aim": aim}


def rows() -> list[dict]:
    small = statistics.median(Processes(2).run(latency, (500,))[0] for _ in range(ROUNDS))
    first = [row("4-byte message one way, 2 processes", f"{small * 1e6:.1f} us", "")]
    return first + compared(2) + compared(4) + crowded()
