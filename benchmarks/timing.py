"""Interleaved timing: each contender in turn, again and again, so that a busy moment of the machine hits all alike."""

import statistics
import time
from collections.abc import Callable


def interleaved(contenders: dict[str, Callable], reps: int = 15, warm: int = 2) -> dict[str, float]:
    """The median seconds of one call of each contender.

    Each timed call follows an untimed one of the same contender: it finds its own data in the cache, as in training,
    and the threads of the contender before it have gone to sleep.
    """
    for call in contenders.values():
        for _ in range(warm):
            call()
    times = {name: [] for name in contenders}
    for _ in range(reps):
        for name, call in contenders.items():
            call()
            start = time.perf_counter()
            call()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def goal(name: str, ours: float, unit: str, floor: float, aim: float) -> dict:
    """A row for a goal that is a time: there is no peer, and the ratio is 1 at the floor."""
    row = {"name": name, "ours": f"{ours:.4g} {unit}", "peer": f"accepted {floor:g} {unit}"}
    return row | {"ratio": floor / ours, "floor": 1.0, "aim": floor / aim}
