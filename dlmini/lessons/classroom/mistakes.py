"""What well-known mistakes answer in exercise 14: a sentence for each, so that `check` can call it by its name."""

from __future__ import annotations

from math import floor

import numpy as np


def bad_budgets(case) -> dict:
    seconds, n, fixed, bandwidth, how = case.args
    left, star, ring = (seconds - fixed) * bandwidth, 2 * (n - 1), 2 * (n - 1) / n
    factor = star if how == "star" else ring
    return {
        "the fixed part is not paid": floor(seconds * bandwidth / factor),
        "the way back is forgotten: packets pass in and then out": max(0, floor(2 * left / factor)),
        "the server's own packet passes no cable: N - 1 do": max(0, floor(left / (2 * n if how == "star" else 2))),
        "this is the other way, a ring for a star or a star for a ring": max(
            0, floor(left / (ring if how == "star" else star))
        ),
        "the fixed part is added; of the seconds it leaves fewer": floor((seconds + fixed) * bandwidth / factor),
        "in bits; the bandwidth is in bytes per second, as the packet is": max(0, floor(left / factor / 8)),
        "less than nothing: if the fixed part is too long already, it is 0": floor(left / factor),
    }


def quantised(layers, unsaid, levels: int = 127, one_scale: bool = False, rounding=np.rint, carry: int = 1) -> tuple:
    """(levels, scales, unsaid) in double precision, with another grid, scale, rounding, or sign of what was unsaid."""
    whole = [g.astype("f8") + carry * u for g, u in zip(layers, unsaid, strict=True)]
    own = [float(np.abs(p).max(initial=0)) for p in whole]
    scales = [max(own, default=0.0)] * len(own) if one_scale else own
    q = [rounding(levels * p / (m or 1)) for p, m in zip(whole, scales, strict=True)]
    return q, scales, [p - m * one / levels for p, m, one in zip(whole, scales, q, strict=True)]


def bad_packets(case) -> dict:
    layers, unsaid = case.args
    zeros = [np.zeros_like(u) for u in unsaid]
    levels, scales, left = quantised(layers, unsaid)
    kept = [g - (u + g - r) for g, u, r in zip(layers, unsaid, left, strict=True)]  # gradient - decoded
    read = [g.astype("f8") + u - r for g, u, r in zip(layers, unsaid, left, strict=True)]
    return {
        "21 values, as the published program has them: 127 levels on either side, not 10": quantised(
            layers, unsaid, 10
        ),
        "one scale for all layers: each has its own": quantised(layers, unsaid, one_scale=True),
        "the published program itself: 21 values, one scale, no memory": quantised(layers, zeros, 10, True),
        "what was unsaid is forgotten: add it first": quantised(layers, zeros),
        "cut off, expected the nearest level": quantised(layers, unsaid, rounding=np.trunc),
        "rounded down, expected the nearest level": quantised(layers, unsaid, rounding=np.floor),
        "the scale is that of one level, m / 127; m is asked for": (levels, [m / 127 for m in scales], left),
        "what was unsaid is taken off; it is added": quantised(layers, unsaid, carry=-1),
        "the new unsaid has the wrong sign: it is p - m q / 127": (levels, scales, [-r for r in left]),
        "the new unsaid is gradient - decoded, which forgets what was carried: p - decoded": (levels, scales, kept),
        "what the other side reads is returned, expected what it does not read": (levels, scales, read),
        "nothing is remembered: the new unsaid is zero": (levels, scales, zeros),
    }


def bad_means(case) -> dict:
    (packets,) = case.args
    n = len(packets)
    first = packets[0][1]

    def mixed(decode, by) -> list:
        each = [
            [decode(q.astype("f8"), m, k) for k, (q, m) in enumerate(zip(*packet, strict=True))] for packet in packets
        ]
        return [by(list(same)) for same in zip(*each, strict=True)]

    def plain(q, m, k):
        return q * m / 127

    def again(divisor):
        def by(same):
            total = same[0]
            for one in same[1:]:
                total = (total + one) / divisor
            return total

        return by

    def mean(same):
        return sum(same) / n

    return {
        "divided once for every computer, as the published program does: the last ones count most; divide once": mixed(
            plain, again(n)
        ),
        "halved after every computer, so the last ones count most; divide by N once": mixed(plain, again(2)),
        "this is the sum, not the mean": mixed(plain, sum),
        "divided by N - 1; every computer counts, so there are N": mixed(plain, lambda same: sum(same) / max(1, n - 1)),
        "divided by the scale, as the document's text says; levels are multiplied by it": mixed(
            lambda q, m, k: q / 127 / (m or 1), mean
        ),
        "all packets are read with the first one's scales; each has its own": mixed(
            lambda q, m, k: q * first[k] / 127, mean
        ),
        "127 is forgotten: level 127 stands for the scale": mixed(lambda q, m, k: q * m, mean),
        "levels are read as if there were 10 of them": mixed(lambda q, m, k: q * m / 10, mean),
        "the first computer's own gradient is missing": mixed(
            plain, lambda same: sum(same[1:]) / n if n > 1 else same[0]
        ),
    }
