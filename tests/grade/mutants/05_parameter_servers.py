"""Wrong answers to exercise 05: (function, what is wrong, this of the solution, that in its place)."""

RANGES, ROUND = "shard_ranges", "push_pull"

EDGES = """    for speed in speeds:
        found.append((length * before // total, length * (before + speed) // total))
        before += speed
    return found
"""

PUSHES = """        for k, (low, high) in enumerate(shard_ranges(len(mine), [1] * servers)):
            comm.send(workers + k, mine[low:high])
        return np.concatenate([comm.recv(workers + k) for k in range(servers)])
"""

MUTANTS = [
    (
        RANGES,
        "numbers left over are lost",
        EDGES,
        """    for speed in speeds:
        found.append((before, before + length * speed // total))
        before = found[-1][1]
    return found
""",
    ),
    (
        RANGES,
        "the last server gets all that is left over",
        EDGES,
        """    for speed in speeds:
        found.append((before, before + length * speed // total))
        before = found[-1][1]
    return found[:-1] + [(found[-1][0], length)]
""",
    ),
    (RANGES, "speeds are ignored", "for speed in speeds:", "total = len(speeds)\n    for speed in [1] * total:"),
    (
        RANGES,
        "the last number of a part belongs to it",
        "(before + speed) // total))",
        "(before + speed) // total - 1))",
    ),
    (
        RANGES,
        "edges are rounded up",
        EDGES,
        """    for speed in speeds:
        found.append((-(-length * before // total), -(-length * (before + speed) // total)))
        before += speed
    return found
""",
    ),
    (ROUND, "the sum in the place of the mean", "(total / workers)", "total"),
    (ROUND, "servers are counted as workers", "(total / workers)", "(total / comm.size)"),
    (ROUND, "uphill", "new = mine - rate", "new = mine + rate"),
    (
        ROUND,
        "one server after another",
        PUSHES,
        """        found = []
        for k, (low, high) in enumerate(shard_ranges(len(mine), [1] * servers)):
            comm.send(workers + k, mine[low:high])
            found.append(comm.recv(workers + k))
        return np.concatenate(found)
""",
    ),
    (
        ROUND,
        "every worker is answered at once, before the others have pushed",
        "        total += comm.recv(worker)\n",
        "        total += comm.recv(worker)\n        comm.send(worker, mine - rate * (total / workers))\n",
    ),
    (
        ROUND,
        "the step is made in the caller's shard",
        "new = mine - rate * (total / workers)",
        "mine -= rate * (total / workers); new = mine",
    ),
]
