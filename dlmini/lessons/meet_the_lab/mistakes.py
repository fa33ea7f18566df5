"""Mistakes that lesson 00 speaks of: what they give, and how `check` calls them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


def known_shards(n: int, size: int) -> tuple[list, dict]:
    """The shards of all ranks with edges at r n // N, and those that mistakes give."""
    right = list(pairwise(rank * n // size for rank in range(size + 1)))
    floor, ceiling = n // size, -(-n // size)
    down = [(rank * floor, (rank + 1) * floor) for rank in range(size)]
    up = [(min(rank * ceiling, n), min((rank + 1) * ceiling, n)) for rank in range(size)]
    return right, {
        "n / N was rounded down, so the rows left over belong to nobody": down,
        "n / N was rounded down, and the last rank got all rows that were left over": [*down[:-1], (down[-1][0], n)],
        "n / N was rounded up, so the last ranks get too little": up,
        "hi is the last row of the shard; it should be the first row behind it": [(lo, hi - 1) for lo, hi in right],
        "hi is the number of rows; it should be the first row behind the shard": [(lo, hi - lo) for lo, hi in right],
    }


def known_times(one: float, rounds: int, late: float) -> dict[str, float]:
    """Times that mistakes make of so many rounds, if one message takes `one` and ranks begin at `late`."""
    known = {
        "this is a whole round trip; one message takes half of it": 2 * one,
        "this is the time of all rounds; divide by their number, too": rounds * one,
        "this is the time of all messages; divide by 2 * rounds": 2 * rounds * one,
        "only the last round was timed; read the clock before the first": one / rounds,
    }
    said = "this counts from time 0; take the difference of the clock before the first send and after the last recv"
    return known | ({said: one + late / (2 * rounds)} if late else {})


def known_lines(sizes, seconds, alpha: float, beta: float) -> dict[str, tuple[float, float]]:
    """What mistakes that the lesson speaks of make of the same points."""
    n, t = sizes.astype(float), seconds.astype(float)
    one_less = beta * len(n) / (len(n) - 1)
    return {
        "alpha and beta have changed places: expected the pair (alpha, beta), latency first.": (beta, alpha),
        "beta is the bandwidth, bytes per second; expected its inverse, seconds per byte.": (alpha, 1 / beta),
        "this is the best line through the origin: alpha, what an empty message costs, is left out.": (
            0.0,
            (n * t).sum() / (n * n).sum(),
        ),
        "the covariance was divided by n - 1 and the variance by n (or the other way round): both alike.": (
            t.mean() - one_less * n.mean(),
            one_less,
        ),
        "this line makes relative errors small; the plain one was asked for, every error counts as it is.": tuple(
            np.linalg.lstsq(np.stack([1 / t, n / t], 1), np.ones(len(n)))[0]
        ),
    }
