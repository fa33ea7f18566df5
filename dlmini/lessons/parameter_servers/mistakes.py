"""Mistakes that lesson 05 speaks of: what they give, and how `check` calls them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def known_ranges(length: int, speeds: list[int], right: list[tuple[int, int]]) -> dict:
    """Mistakes that the lesson speaks of, and what they give."""
    total, before = sum(speeds), [sum(speeds[:k]) for k in range(len(speeds) + 1)]
    ends = [0, *np.cumsum([length * speed // total for speed in speeds]).tolist()]
    down, rounded = list(pairwise(ends)), "every length was rounded down"
    return {
        f"{rounded}, so numbers are left over that no server keeps": down,
        f"{rounded}, and the last server got all that was left over": [*down[:-1], (down[-1][0], length)],
        "the speeds were ignored: a server that is twice as fast keeps twice as many": list(
            pairwise([length * k // len(speeds) for k in range(len(speeds) + 1)])
        ),
        "edges were rounded up; the docstring rounds them down": list(
            pairwise([-(-length * b // total) for b in before])
        ),
        "edges were rounded twice, as floats; whole numbers stay exact: multiply, then divide by //": list(
            pairwise([int(length * (b / total)) for b in before])
        ),
        "high is the last number of the part; it should be the first one behind it": [(a, b - 1) for a, b in right],
        "high is the length of the part; it should be the first number behind it": [(a, b - a) for a, b in right],
    }


def known_weights(case, rank: int, workers: int) -> dict:
    """Mistakes that the lesson speaks of, and what they give: all weights."""
    w, each = np.concatenate([args[0] for args in case.args[workers:]]), np.array([a[0] for a in case.args[:workers]])
    step, rate, per_message = w - case.truth, case.args[0][2], each[0] / workers
    for grad in each[1:]:
        per_message = (per_message + grad) / workers
    shards = np.split(case.truth, np.cumsum([len(args[0]) for args in case.args[workers:]])[:-1])
    return {
        f"the step is {workers} times too long: against the sum of the gradients, not against their mean": w
        - workers * step,
        "servers were counted as workers: the mean is over the gradients, and only workers have one": w
        - step * workers / case.size,
        "you divided by N once per message; divide once, when all have come": w - rate * per_message,
        "this goes uphill: a step of descent is w - rate * gradient": w + step,
        "a server answered before all workers had pushed": w - rate * each[: rank + 1].sum(axis=0) / workers,
        "the parts stand in the wrong order: server 0 keeps the first": np.concatenate(shards[::-1]),
        "nobody has stepped: these are the old weights": w,
        "this is a step against the worker's own gradient": w - rate * each[min(rank, workers - 1)],
    }
