"""How long `Processes(4)` takes to start: the first call in a fresh Python, and the calls that follow (goal PERF-3).

A warmed machine has compiled the kernels before, at whatever time. The goals are seconds; a ratio of 1 is the floor.
"""

import statistics
import subprocess
import sys

from benchmarks.timing import goal

CALLS = """
import time
start = time.perf_counter()
import numpy as np
from dlmini.comm.processes import Processes
def program(comm):
    return float(comm.allreduce(np.ones(1000, np.float32))[0])
times = [time.perf_counter() - start]
for _ in range(12):
    start = time.perf_counter()
    assert Processes(4).run(program).values == [4.0] * 4
    times.append(time.perf_counter() - start)
print(*times)
"""
RUNS = 5


def fresh() -> tuple[float, float, float]:
    """In a new Python: seconds of the import, of the first call, and the median of the following ones."""
    done = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=True)
    imported, first, *following = map(float, done.stdout.split())
    return imported, first, statistics.median(following)


def rows() -> list[dict]:
    fresh()  # after this the machine is warm
    imports, firsts, following = map(statistics.median, zip(*(fresh() for _ in range(RUNS)), strict=True))
    imported = {"name": "import of Processes", "ours": f"{imports * 1000:.0f} ms", "peer": ""}
    return [
        imported | dict.fromkeys(("ratio", "floor", "aim")),
        goal("Processes(4), first call", 1000 * firsts, "ms", 1000, 500),
        goal("Processes(4), following calls", 1000 * following, "ms", 10, 3),
    ]
