"""How long something takes, and what else can go on meanwhile.

Counted is the time that this thread was computing: other programs disturb it less than the clock on the wall. Windows
counts it in steps of 16 ms only, so there the clock on the wall is read.
"""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from collections.abc import Callable

own_time = time.perf_counter if os.name == "nt" else time.thread_time


def median_seconds(call: Callable, reps: int, warm: bool = True) -> float:
    if warm:
        call()
    return statistics.median(seconds(call) for _ in range(reps))


def seconds(call: Callable) -> float:
    began = own_time()
    call()
    return own_time() - began


def counted_meanwhile(call: Callable) -> int:
    """How far another Python thread counts while `call` runs: hardly at all, if `call` keeps Python's lock."""
    count, over, usual = [0], threading.Event(), sys.getswitchinterval()

    def tick():
        while not over.is_set():
            count[0] += 1

    thread = threading.Thread(target=tick, daemon=True)
    sys.setswitchinterval(1e-4)  # or the thread would have 5 ms to count before the call has begun
    try:
        thread.start()
        before = count[0]
        call()
        return count[0] - before
    finally:
        over.set()
        thread.join()
        sys.setswitchinterval(usual)
