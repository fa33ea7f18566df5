"""Interleaved timing: each contender a few times in turn, so that a busy moment of the machine hits all alike."""

import statistics
import time
from collections.abc import Callable


def interleaved(contenders: dict[str, Callable], reps: int = 15, warm: int = 2) -> dict[str, float]:
    """The median seconds of one call of each contender."""
    for call in contenders.values():
        for _ in range(warm):
            call()
    times = {name: [] for name in contenders}
    for _ in range(reps):
        for name, call in contenders.items():
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}
