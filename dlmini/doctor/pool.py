"""What lessons lean on: worker processes, one BLAS thread each, compiled kernels, no litter in shared memory."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from dlmini import jit
from dlmini.comm.errors import CommError
from dlmini.comm.launch import launch
from dlmini.comm.processes import Processes
from dlmini.comm.processes.segment import sweep
from dlmini.comm.processes.workers.start import METHOD
from dlmini.course.warm_up import cold
from dlmini.doctor.finding import Finding, broken, good, warning

RANKS = 2


def start(method: str, first: float, second: float) -> Finding:
    """Seconds until two new workers have answered a first call, and a second one."""
    found = f"{method}: {first:.2f} s at first, then {second * 1e3:.0f} ms"
    if first > 10:
        return warning("workers", found, "Compile kernels ahead: dlmini warm-up. Is the machine busy?")
    if second > 0.5:
        return warning("workers", found, "The machine is very busy: end what else runs on it.")
    return good("workers", found)


def blas(threads: list[int]) -> Finding:
    """Threads of the busiest maths library, for each worker."""
    if max(threads) > 1:
        fix = (
            "Workers would crowd each other out: unset OMP_NUM_THREADS and its kin in sitecustomize and shell profiles."
        )
        return broken("BLAS threads", f"{max(threads)} in a worker", fix)
    return good("BLAS threads", "1 in every worker")


def kernels(mode: str, where: str, writable: bool, uncompiled: list[str]) -> Finding:
    if mode != "numba":
        return warning("kernels", f"DLMINI_KERNELS={mode}", "Unset it: without compiled kernels lessons are slow.")
    if not writable:
        return warning("kernels", f"{where} cannot be written", "Name another folder in DLMINI_CACHE.")
    if uncompiled:
        found = f"{len(uncompiled)} files not compiled yet"
        return warning("kernels", found, "Run dlmini warm-up before class: it takes ten or twenty seconds, once.")
    return good("kernels", f"compiled, in {where}")


def segments(swept: list[str]) -> Finding:
    found = f"{len(swept)} left by processes that died, now removed" if swept else "none left behind"
    return good("segments", found)


# ---- what is measured ----


def blas_threads(comm) -> int:
    """On a rank: threads of the busiest maths library that is loaded."""
    import numpy as np
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    return max((pool["num_threads"] for pool in threadpool_info()), default=1)


def round_trip() -> tuple[float, float, list[int]]:
    """Two workers that are surely new, called twice: seconds, seconds, and the second call's answers."""
    began = time.perf_counter()
    pool = Processes(RANKS, timeout=120)
    launch(blas_threads, on=pool)
    middle = time.perf_counter()
    threads = list(launch(blas_threads, on=pool))
    return middle - began, time.perf_counter() - middle, threads


def can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def visit() -> list[Finding]:
    """Measure and judge; the round trip comes last, since it would compile what is cold."""
    root = jit.cache_root()
    found = [segments(sweep()), kernels(jit.mode(), str(root), can_write(root), cold())]
    try:
        first, second, threads = round_trip()
    except (CommError, OSError, MemoryError) as error:
        why = " ".join(str(error).split())[:200]
        return [
            *found,
            broken("workers", why, f"Without workers ({METHOD}) lessons can only simulate: see the reason."),
        ]
    return [*found, start(METHOD, first, second), blas(threads)]
