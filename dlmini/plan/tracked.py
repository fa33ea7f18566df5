"""Plans told to a tracker (trackers.py), beside trainings: a forecast, every layout that a search found, a played step.

search("gpt-175b", 1024, tracker=TensorBoard("runs/plan"))      layout 0, the best, is step 0, and so on
plan/seconds, plan/mfu, plan/idle       of a step; plan/seconds/products, ... where they go
plan/bytes, plan/bytes/weights, ...     on the fullest device; plan/sent/tensor, ... what a device sends
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable

from dlmini import files
from dlmini.trackers import tracker_of

HELD = ("weights", "gradients", "optimiser", "activations", "working")


def numbers(found) -> dict[str, float]:
    """Of a Forecast, by name."""
    sent = Counter()
    for one in found.transfers:
        sent[f"plan/sent/{one.what}"] += one.sent
    return {
        "plan/seconds": found.seconds,
        "plan/mfu": found.utilisation(),
        "plan/idle": found.idle_share,
        "plan/bytes": found.memory.total,
        **{f"plan/seconds/{part}": seconds for part, seconds in found.parts.items()},
        **{f"plan/bytes/{part}": getattr(found.memory, part) for part in HELD},
        **sent,
    }


def played_numbers(results) -> dict[str, float]:
    """Of a step that was played (SimResults); of the ranks that were."""
    messages, nbytes = results.books.total()
    return {"played/seconds": results.seconds, "played/messages": messages, "played/bytes": nbytes}


def tell(tracker, rows: Iterable[dict[str, float]]) -> None:
    """One step for each; None is told nothing. One that fails costs its picture, not the plan."""
    if tracker is None:
        return
    try:
        for step, values in enumerate(rows):
            tracker.log(values, step=step)
    except Exception as error:
        warnings.warn(f"the tracker {tracker!r} failed, and is told no more: {files.why(error)}", stacklevel=3)


def checked(tracker):
    """The tracker, or None; asked for before anything is computed."""
    return None if tracker is None else tracker_of(tracker)
