"""Wrong answers to exercise 05: (function, what is wrong, this of the solution, that in its place, what check says)."""

RANGES, ROUND = "shard_ranges", "push_pull"

ONE = "found.append((length * before // total, length * (before + speed) // total))"
EDGES = f"""    for speed in speeds:
        {ONE}
        before += speed
    return found
"""
LENGTHS = """    for speed in speeds:
        found.append((before, before + length * speed // total))
        before = found[-1][1]
    return found"""

PUSHES = """        for k, (low, high) in enumerate(shard_ranges(len(mine), [1] * servers)):
            comm.send(workers + k, mine[low:high])
        return np.concatenate([comm.recv(workers + k) for k in range(servers)])
"""
ADD = "        total += comm.recv(worker)\n"
NEW = "new = mine - rate * (total / workers)"
TELL = """    for worker in range(workers):
        comm.send(worker, new)
"""

MUTANTS = [
    (RANGES, "numbers left over are lost", EDGES, f"{LENGTHS}\n", "numbers are left over that no server keeps"),
    (
        RANGES,
        "the last server gets all that is left over",
        EDGES,
        f"{LENGTHS}[:-1] + [(found[-1][0], length)]\n",
        "the last server got all that was left over",
    ),
    (
        RANGES,
        "speeds are ignored",
        "for speed in speeds:",
        "total = len(speeds)\n    for speed in [1] * total:",
        "the speeds were ignored",
    ),
    (
        RANGES,
        "the last number of a part belongs to it",
        "(before + speed) // total))",
        "(before + speed) // total - 1))",
        "high is the last number of the part",
    ),
    (
        RANGES,
        "a length in the place of the end",
        ONE,
        f"{ONE[:-2]} - length * before // total))",
        "high is the length of the part",
    ),
    (
        RANGES,
        "edges are rounded up",
        ONE,
        "found.append((-(-length * before // total), -(-length * (before + speed) // total)))",
        "edges were rounded up",
    ),
    (
        RANGES,
        "edges are rounded twice",
        ONE,
        "found.append((int(length * (before / total)), int(length * ((before + speed) / total))))",
        "edges were rounded twice",
    ),
    (
        RANGES,
        "no part is empty",
        ONE,
        """low = length * before // total
        found.append((low, max(low + 1, length * (before + speed) // total)))""",
    ),
    (RANGES, "long vectors lose digits", ONE, ONE.replace("length * before", "int(np.float32(length)) * before")),
    (ROUND, "the sum in the place of the mean", NEW, "new = mine - rate * total", "the step is 3 times too long"),
    (
        ROUND,
        "servers are counted as workers",
        NEW,
        "new = mine - rate * (total / comm.size)",
        "servers were counted as workers",
    ),
    (
        ROUND,
        "divides once per message",
        f"{ADD}    {NEW}",
        "        total = (total + comm.recv(worker)) / workers\n    new = mine - rate * total",
        "you divided by N once per message",
    ),
    (ROUND, "uphill", "new = mine - rate", "new = mine + rate", "this goes uphill"),
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
        "push all parts before you wait",
    ),
    (
        ROUND,
        "every worker is answered at once, before the others have pushed",
        f"{ADD}    {NEW}\n{TELL}",
        f"{ADD}        comm.send(worker, mine - rate * (total / workers))\n    {NEW}\n",
        "a server answered before all workers had pushed",
    ),
    (
        ROUND,
        "the step is made in the caller's shard",
        NEW,
        "mine -= rate * (total / workers); new = mine",
        "Your input was changed: mine",
    ),
    (
        ROUND,
        "every server gets the whole gradient",
        f"{PUSHES}    total = np.zeros_like(mine)\n    for worker in range(workers):\n{ADD}",
        """        for k in range(servers):
            comm.send(workers + k, mine)
        return np.concatenate([comm.recv(workers + k) for k in range(servers)])
    total, k = np.zeros_like(mine), comm.rank - workers
    for worker in range(workers):
        whole = comm.recv(worker)
        total += whole[slice(*shard_ranges(len(whole), [1] * servers)[k])]
""",
        "sent the whole vector",
    ),
    (
        ROUND,
        "double precision whatever comes",
        NEW,
        "new = mine - np.float64(rate) * (total / workers)",
        "holds float64, expected float32",
    ),
    (
        ROUND,
        "single precision whatever comes",
        NEW,
        f"{NEW}; new = new.astype('f4')",
        "holds float32, expected float64",
    ),
    (
        ROUND,
        "parts in the wrong order",
        "comm.recv(workers + k) for k in range(servers)])",
        "comm.recv(workers + k) for k in reversed(range(servers))])",
        "the parts stand in the wrong order",
    ),
    (
        ROUND,
        "parts of equal length are assumed",
        "enumerate(shard_ranges(len(mine), [1] * servers)):",
        "enumerate([(k * (len(mine) // servers), (k + 1) * (len(mine) // servers)) for k in range(servers)]):",
    ),
]
