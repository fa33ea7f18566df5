"""Wrong answers to exercise 13: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

LOOPS, NEXT, ONCE = "two_loop", "next_portion", "counted"
SCALE = "q *= (s @ y) / (y @ y)"
BACK = "q += (share - (y @ q) / (s @ y)) * s"
LATE = "if portion in late and replica not in holders"
COPY = "return min(others, key=lambda portion: len(held[portion]), default=None)"
WHOLE = "if len(pieces) == shards and portion not in chosen:"
KEPT = "pieces = have.setdefault((portion, replica), set())\n        pieces.add(shard)"

MUTANTS = [
    (LOOPS, "the other scale", SCALE, "q *= (s @ s) / (s @ y)", "multiplied by s.s / s.y"),
    (
        LOOPS,
        "s and y exchanged",
        "q, shares = grad.copy(), []",
        "pairs = [(y, s) for s, y in pairs]\n    q, shares = grad.copy(), []",
        "s and y are exchanged",
    ),
    (LOOPS, "shares of the gradient", "(s @ q) / (s @ y))", "(s @ grad) / (s @ y))", "are taken from the gradient"),
    (LOOPS, "added", BACK, BACK.replace("share - ", "share + "), "adds y.q / s.y"),
    (LOOPS, "uphill", "return -q", "return q", "goes uphill"),
    (
        LOOPS,
        "oldest first",
        "for s, y in reversed(pairs):",
        "for s, y in pairs:",
        "the first loop goes from the oldest pair on",
    ),
    (
        LOOPS,
        "both loops the other way round",
        "for s, y in reversed(pairs):\n"
        "        shares.append((s @ q) / (s @ y))\n"
        "        q -= shares[-1] * y\n"
        "    if pairs:\n"
        "        s, y = pairs[-1]\n"
        "        q *= (s @ y) / (y @ y)\n"
        "    for (s, y), share in zip(pairs, reversed(shares), strict=True):",
        "for s, y in pairs:\n"
        "        shares.append((s @ q) / (s @ y))\n"
        "        q -= shares[-1] * y\n"
        "    if pairs:\n"
        "        s, y = pairs[-1]\n"
        "        q *= (s @ y) / (y @ y)\n"
        "    for (s, y), share in zip(reversed(pairs), reversed(shares), strict=True):",
        "both loops go the other way round",
    ),
    (
        LOOPS,
        "newest first, twice",
        "zip(pairs, reversed(shares), strict=True)",
        "zip(reversed(pairs), shares, strict=True)",
        "the second loop goes from the newest pair on",
    ),
    (LOOPS, "no scale between the loops", SCALE, "pass", "q is not multiplied by s.y / y.y"),
    (LOOPS, "the oldest pair's scale", "s, y = pairs[-1]", "s, y = pairs[0]", "of the oldest pair"),
    (LOOPS, "the curvature, not its inverse", SCALE, "q *= (y @ y) / (s @ y)", "that is the curvature"),
    (LOOPS, "nothing is taken off", BACK, "q += share * s", "takes nothing off"),
    (LOOPS, "shares are forgotten", BACK, "q -= (y @ q) / (s @ y) * s", "forgets the shares"),
    (LOOPS, "the gradient is changed", "grad.copy()", "grad", "Your input was changed: grad"),
    (LOOPS, "the newest nine alone", "q, shares = grad.copy(), []", "q, shares, pairs = grad.copy(), [], pairs[-9:]"),
    (LOOPS, "shares in the wrong order", "reversed(shares)", "shares", "belongs to its own pair"),
    (NEXT, "a copy while others wait", "if waiting:", "if waiting and not late:", "although portions wait"),
    (NEXT, "the highest number", "return min(waiting)", "return max(waiting)", "the highest number"),
    (NEXT, "the first of the list", "return min(waiting)", "return waiting[0]", "the first of the list"),
    (NEXT, "whatever is held is copied", LATE, "if replica not in holders", "is copied that is not late"),
    (NEXT, "one that it holds itself", LATE, "if portion in late", "holds this portion already"),
    (NEXT, "where most are at work", COPY, COPY.replace("min(", "max("), "on which most are at work"),
    (
        NEXT,
        "the last of equals",
        COPY,
        COPY.replace("min(others", "min(others[::-1]"),
        "of equals the one handed out last",
    ),
    (NEXT, "the lowest late one", COPY, "return min(others, default=None)", "the lowest number of the late ones"),
    (NEXT, "no copies", COPY, "return None", "though a late portion could be copied"),
    (
        NEXT,
        "it is taken off the list",
        "return min(waiting)",
        "waiting.sort()\n        return waiting.pop(0)",
        "Your input was changed: waiting",
    ),
    (NEXT, "an error when all is done", ", default=None)", ")"),
    (ONCE, "the first piece decides", "len(pieces) == shards and ", "", "the first piece decides"),
    (
        ONCE,
        "pieces of different replicas",
        "setdefault((portion, replica), set())",
        "setdefault(portion, set())",
        "pieces of different replicas are taken for one copy",
    ),
    (
        ONCE,
        "messages, not shards",
        KEPT,
        "pieces = have.setdefault((portion, replica), [])\n        pieces.append(shard)",
        "messages are counted, and one came twice",
    ),
    (ONCE, "the last one counts", " and portion not in chosen", "", "the last whole copy counts"),
    (ONCE, "one shard less", "len(pieces) == shards", "len(pieces) >= max(1, shards - 1)", "one shard is missing"),
    (
        ONCE,
        "who began first",
        "return chosen",
        "return {p: next(r for _, q, r in staged if q == p and len(have[q, r]) == shards) for p in chosen}",
        "who began first counts",
    ),
    (ONCE, "two shards whatever there are", WHOLE, WHOLE.replace("== shards", "== min(shards, 2)")),
    (
        ONCE,
        "portions without a whole copy are named too",
        "return chosen",
        "return dict.fromkeys(p for _, p, _ in staged) | chosen",
    ),
]
