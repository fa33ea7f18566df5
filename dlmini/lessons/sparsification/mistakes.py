"""What well-known mistakes answer in exercise 10: a sentence for each, so that `check` can call it by its name."""

from __future__ import annotations

import numpy as np


def bad_places(u: np.ndarray, k: int) -> dict:
    """Which places well-known mistakes choose."""
    size = np.abs(u)
    by_size, by_value = np.argsort(-size, kind="stable"), np.argsort(-u, kind="stable")
    wanted = by_size[:k]
    twice = [int(np.flatnonzero(size == size[i])[0]) for i in wanted]
    return {
        "the largest values, expected the largest magnitudes: -9 is larger than 3": np.sort(by_value[:k]),
        "the smallest magnitudes, expected the largest": np.sort(by_size[len(u) - min(k, len(u)) :]),
        "places are in the order of magnitudes, expected ascending": wanted,
        "of equal magnitudes the last places win, expected the first": np.sort(np.argsort(size, kind="stable")[-k:]),
        "a place is named twice": np.sort(twice),
        f"more than k = {k}, all that are as large as the last": np.flatnonzero(size >= min(size[wanted], default=0)),
    }


def bad_thresholds(u: np.ndarray, keep: float) -> dict:
    """What well-known mistakes give."""
    n, size = len(u), np.sort(np.abs(u.astype("f8")))
    count = max(1, round(keep * n))
    return {
        "values are counted, expected magnitudes": np.sort(u)[-count],
        "this lets the share pass that is to be dropped": size[-round((1 - keep) * n)] if keep * n > 1 else np.nan,
        "one number too many passes": size[-min(count + 1, n)],
        "one number too few passes": size[-max(count - 1, 1)],
        "at least one number must pass, and the count came to 0": np.nan if int(keep * n) else size[0],
        "the count is cut off, expected the nearest whole number": size[-max(1, int(keep * n))],
        "interpolated between two magnitudes, expected one of them": float(np.quantile(size, 1 - keep)),
    }


def bad_memories(updates: np.ndarray, k: int) -> dict:
    """What well-known mistakes give."""
    forgetful = "the rest is forgotten: what was unsaid before is added to nothing"
    return {
        forgetful: remembered(updates, k, before=lambda e, u: u),
        "what was said stays unsaid, and is said again": remembered(updates, k, after=lambda p, row: p),
        "all is forgotten once something is said": remembered(updates, k, after=lambda p, row: 0 * p),
        "the choice looks at the update alone, expected update + unsaid": remembered(updates, k, lambda p, u: u),
        "what was unsaid is added twice": remembered(updates, k, before=lambda e, u: u + 2 * e),
    }


def remembered(updates: np.ndarray, k: int, choose=lambda p, update: p, before=lambda e, u: e + u, after=None) -> tuple:
    """(sent, unsaid) with something done otherwise: from what to choose, what to add, what is left."""
    unsaid, sent = np.zeros(updates.shape[1]), np.zeros(updates.shape)
    for row, update in zip(sent, updates.astype("f8"), strict=True):
        p = before(unsaid, update)
        index = np.argsort(-np.abs(choose(p, update)), kind="stable")[:k]
        row[index] = choose(p, update)[index]
        unsaid = p - row if after is None else after(p, row)
    return sent, unsaid


def bad_sums(case) -> dict:
    """What well-known mistakes give on each rank: sentence -> rows."""
    n, size = case.size, case.args[0][2]
    dense, last = np.zeros((n, size)), np.zeros(size)
    for row, (index, values, _) in zip(dense, case.args, strict=True):
        row[index] = values
        last[index] = values
    total = dense.sum(axis=0)
    return {
        "the mean, expected the sum": [total / n] * n,
        "where places meet the last packet wins, expected their sum": [last] * n,
        "one step too few: a packet is missing": total - np.roll(dense, -1, axis=0),
        "one step too many: its own packet comes back and counts twice": total + dense,
        "its own packet again and again: pass on what came last": dense + (n - 1) * np.roll(dense, 1, axis=0),
        "its own packet alone": dense,
    }
