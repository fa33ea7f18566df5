"""Mistakes that lesson 03 speaks of: what they give, and how `check` calls them."""

from __future__ import annotations

import numpy as np


def known_means(case, rank: int) -> dict:
    each = np.array([grad for (grad,) in case.args], "f8")
    total, by_n, by_two = each.sum(axis=0), each[0], each[0]
    for grad in each[1:]:
        by_n, by_two = (by_n + grad) / case.size, (by_two + grad) / 2
    return {
        "this is the sum of all gradients, not their mean; divide it once": total,
        "you divided by N once per message; divide once, when all have come": by_n,
        "you halved after every message, so late gradients count more; divide by N once, when all have come": by_two,
        "you divided by N - 1; rank 0's gradient counts, too, so there are N": total / max(1, case.size - 1),
        "rank 0's own gradient is missing": total / case.size - each[0] / case.size,
        "this is the rank's own gradient, not the mean": each[rank],
    }


def known_steps(case, rank: int) -> dict:
    w, grad, rate = (np.asarray(arg, "f8") for arg in case.args[rank])
    step = w - case.truth
    return {
        "the step is N times too long: against the sum of the gradients, not against their mean": w - case.size * step,
        "the step is N times too short: average_gradients has divided by N already": w - step / case.size,
        "this is a step against the rank's own gradient; all ranks must use the mean": w - rate * grad,
        "this goes uphill: a step of descent is w - rate * gradient": w + step,
        "there are two steps, one against the own gradient and one against the mean": w - rate * grad - step,
        "this is the mean gradient; the new weights were asked for": step / rate,
    }
