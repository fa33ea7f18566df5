"""What well-known mistakes answer in exercise 13: a sentence for each, so that `check` can call it by its name."""

from __future__ import annotations

import numpy as np


def recursion(
    grad,
    pairs,
    first=reversed,
    second=iter,
    scale=lambda pairs: newest(pairs),
    keep=1.0,
    take=1.0,
    swapped=False,
    stale=False,
):
    """The two loops with another order, scale, or share of the first or second product.

    swapped: another's shares; stale: those of the gradient, which q was before the first loop.
    """
    q, shares = grad.astype("f8").copy(), {}
    numbered = list(enumerate(pairs))
    for i, (s, y) in first(numbered):
        shares[i] = (s @ (grad if stale else q)) / (s @ y)
        q -= shares[i] * y
    q *= scale(pairs)
    for i, (s, y) in second(numbered):
        share = shares[len(pairs) - 1 - i if swapped else i]
        q += (keep * share - take * (y @ q) / (s @ y)) * s
    return -q


def newest(pairs) -> float:
    return (pairs[-1][0] @ pairs[-1][1]) / (pairs[-1][1] @ pairs[-1][1]) if pairs else 1.0


def oldest(pairs) -> float:
    return newest(pairs[:1])


def bad_directions(case) -> dict:
    grad, pairs = case.args
    return {
        "this is +H grad, and goes uphill; the direction is -H grad": -recursion(grad, pairs),
        "steepest descent: the pairs are not used": -grad,
        "the first loop goes from the oldest pair on; it begins with the newest": recursion(grad, pairs, first=iter),
        "the first loop goes from the oldest pair on, it begins with the newest; and shares are taken from its end": (
            recursion(grad, pairs, first=iter, swapped=True)
        ),
        "each share of the first loop belongs to its own pair, and the second loop goes the other way": recursion(
            grad, pairs, swapped=True
        ),
        "the second loop goes from the newest pair on; it begins with the oldest": recursion(
            grad, pairs, second=reversed
        ),
        "both loops go the other way round: newest to oldest first": recursion(grad, pairs, iter, reversed),
        "q is not multiplied by s.y / y.y between the loops": recursion(grad, pairs, scale=lambda pairs: 1.0),
        "multiplied by s.y / y.y of the oldest pair; the newest knows what the loss is like here": recursion(
            grad, pairs, scale=oldest
        ),
        "multiplied by y.y / s.y: that is the curvature, and its inverse is wanted": recursion(
            grad, pairs, scale=lambda pairs: 1 / newest(pairs)
        ),
        "multiplied by s.s / s.y; it is s.y / y.y": recursion(
            grad, pairs, scale=lambda pairs: newest([(y, s) for s, y in pairs]) ** -1 if pairs else 1.0
        ),
        "s and y are exchanged: a pair is (s, y), the step first": recursion(grad, [(y, s) for s, y in pairs]),
        "all shares of the first loop are taken from the gradient; each is taken from q, which has changed": recursion(
            grad, pairs, stale=True
        ),
        "the second loop adds y.q / s.y, which is to be taken off: a_i - y.q / s.y": recursion(grad, pairs, take=-1.0),
        "the second loop takes nothing off: a_i - y.q / s.y": recursion(grad, pairs, take=0.0),
        "the second loop forgets the shares of the first: a_i - y.q / s.y": recursion(grad, pairs, keep=0.0),
    }


def bad_portions(case) -> dict:
    replica, waiting, held, late = case.args
    theirs = [p for p, holders in held.items() if replica not in holders]
    ready = [p for p in theirs if p in late]

    def fewest(portions):
        return min(portions, key=lambda p: len(held[p]), default=None)

    right = min(waiting, default=fewest(ready))
    return {
        "a copy is made although portions wait that nobody works on": fewest(ready) if waiting else right,
        "the highest number, expected the lowest": max(waiting, default=right),
        "the first of the list, expected the lowest number": waiting[0] if waiting else right,
        "a portion is copied that is not late: replicas that are done together would copy each other's last ones": (
            right if waiting else fewest(theirs)
        ),
        "a copy for a replica that holds this portion already": right
        if waiting
        else fewest([p for p in held if p in late]),
        "the late portion on which most are at work, expected the fewest": (
            right if waiting else max(ready, key=lambda p: len(held[p]), default=None)
        ),
        "of equals the one handed out last, expected the first": right if waiting else fewest(ready[::-1]),
        "the lowest number of the late ones; the fewest holders come first, then the order of handing out": (
            right if waiting else min(ready, default=None)
        ),
        "nothing, though a late portion could be copied": min(waiting, default=None),
    }


def walked(staged, shards, key=lambda portion, replica: (portion, replica), need=0, messages=False, last=False) -> dict:
    """The rule with another key, another number of shards, messages in the place of shards, or the last copy."""
    have, chosen = {}, {}
    for shard, portion, replica in staged:
        pieces = have.setdefault(key(portion, replica), [])
        if messages or shard not in pieces:
            pieces.append(shard)
            if len(pieces) >= max(1, shards - need) and (last or portion not in chosen):
                chosen[portion] = replica
    return chosen


def eager(staged, shards) -> dict:
    """Of those whose copies become whole, who began first."""
    whole = {}
    for shard, portion, replica in staged:
        whole.setdefault((portion, replica), set()).add(shard)
    chosen = {}
    for _, portion, replica in staged:
        if len(whole[portion, replica]) == shards:
            chosen.setdefault(portion, replica)
    return chosen


def bad_counts(case) -> dict:
    staged, shards = case.args
    return {
        "the first piece decides; a copy counts when all shards have it": walked(staged, 1),
        "pieces of different replicas are taken for one copy": walked(
            staged, shards, key=lambda portion, replica: portion
        ),
        "messages are counted, and one came twice; count the shards that have a piece": walked(
            staged, shards, messages=True
        ),
        "the last whole copy counts; the first does, and stays": walked(staged, shards, last=True),
        "one shard is missing: all of them must have their piece": walked(staged, shards, need=1),
        "who began first counts; who is whole first does": eager(staged, shards),
    }


def rows(chosen) -> np.ndarray:
    """A dict of numbers as an array, to be compared."""
    return np.array(sorted(chosen.items()), "f8").reshape(-1, 2)
