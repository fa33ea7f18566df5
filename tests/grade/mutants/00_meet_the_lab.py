"""Wrong answers to exercise 00: (function, what is wrong, this of the solution, that in its place, what check says)."""

SHARD, FIT, PING = "shard", "fit_alpha_beta", "ping_pong"
EDGES = "return rank * n // size, (rank + 1) * n // size"

FLOATS = "n, t = np.asarray(sizes, float), np.asarray(seconds, float)\n"
COV = "beta = ((n - n.mean()) * (t - t.mean())).sum() / ((n - n.mean()) ** 2).sum()\n"
PAIR = "return float(t.mean() - beta * n.mean()), float(beta)"
LINE = f"{FLOATS}    {COV}    {PAIR}"

MEAN = "/ (2 * rounds)"
LOOP = """    for _ in range(rounds):
"""
PONG = "comm.send(0, comm.recv(0))"
PING_PONG = """            comm.send(1, payload)
            comm.recv(1)
"""
REPLY = f"""elif comm.rank == 1:
            {PONG}"""

MUTANTS = [
    (
        SHARD,
        "rows left over belong to nobody",
        EDGES,
        "return rank * (n // size), (rank + 1) * (n // size)",
        "rounded down, so the rows left over belong to nobody",
    ),
    (
        SHARD,
        "rows left over all go to the last rank",
        EDGES,
        "return rank * (n // size), n if rank == size - 1 else (rank + 1) * (n // size)",
        "the last rank got all rows that were left over",
    ),
    (
        SHARD,
        "rounded up, so that the last ranks starve",
        EDGES,
        "k = -(-n // size); return min(rank * k, n), min((rank + 1) * k, n)",
        "rounded up, so the last ranks get too little",
    ),
    (
        SHARD,
        "a length in the place of the end",
        EDGES,
        "return rank * n // size, (rank + 1) * n // size - rank * n // size",
        "hi is the number of rows",
    ),
    (
        SHARD,
        "the last row in the place of the end",
        EDGES,
        "return rank * n // size, (rank + 1) * n // size - 1",
        "hi is the last row of the shard",
    ),
    (SHARD, "edges that are no whole numbers", EDGES, EDGES.replace("//", "/"), "expected two whole numbers"),
    (SHARD, "begins one row too late", EDGES, "return rank * n // size + (rank > 0), (rank + 1) * n // size"),
    (
        SHARD,
        "nobody goes without a row",
        EDGES,
        "lo = min(rank * n // size, n - 1); return lo, max((rank + 1) * n // size, lo + 1)",
    ),
    (FIT, "alpha and beta exchanged", PAIR, "return float(beta), float(t.mean() - beta * n.mean())", "changed places"),
    (
        FIT,
        "bandwidth in the place of its inverse",
        PAIR,
        "return float(t.mean() - beta * n.mean()), float(1 / beta)",
        "beta is the bandwidth",
    ),
    (
        FIT,
        "through the origin",
        LINE,
        "return 0.0, float((sizes * seconds).sum() / (sizes.astype(float) ** 2).sum())",
        "the best line through the origin",
    ),
    (
        FIT,
        "relative errors are made small",
        LINE,
        "return tuple(np.linalg.lstsq(np.stack([1 / seconds, sizes / seconds], 1), np.ones(len(sizes)))[0].tolist())",
        "this line makes relative errors small",
    ),
    (
        FIT,
        "a covariance over n - 1, a variance over n",
        COV,
        "beta = np.cov(n, t)[0, 1] / n.var()\n",
        "the covariance was divided by n - 1 and the variance by n",
    ),
    (
        FIT,
        "sorts its input in place, sizes without their times",
        FLOATS,
        f"sizes.sort(); {FLOATS}",
        "Your input was changed: sizes",
    ),
    (
        FIT,
        "through the first and the last point",
        LINE,
        """i, j = np.argmin(sizes), np.argmax(sizes)
    beta = (seconds[j] - seconds[i]) / (sizes[j] - sizes[i])
    return float(seconds[i] - beta * sizes[i]), float(beta)""",
    ),
    (FIT, "size fitted to time", COV, "beta = ((t - t.mean()) ** 2).sum() / ((n - n.mean()) * (t - t.mean())).sum()\n"),
    (PING, "the whole round trip", MEAN, "/ rounds", "this is a whole round trip"),
    (PING, "the time of all rounds", MEAN, "/ 2", "this is the time of all rounds"),
    (PING, "the time of all messages", MEAN, "", "this is the time of all messages"),
    (
        PING,
        "the clock starts anew in every round",
        LOOP,
        """    for _ in range(rounds):
        start = comm.now()
""",
        "only the last round was timed",
    ),
    (PING, "the clock is read once", "start = comm.now()", "start = 0.0", "this counts from time 0"),
    (
        PING,
        "an empty answer",
        PONG,
        "comm.recv(0); comm.send(0, np.empty(0, np.uint8))",
        "it sends back what it got",
    ),
    (PING, "its own payload for an answer", PONG, "comm.recv(0); comm.send(0, payload)", "it sends back what it got"),
    (
        PING,
        "all other ranks send, too",
        REPLY,
        f"""{REPLY}
        else:
            comm.send(comm.rank, payload); comm.recv(comm.rank)""",
        "ranks 2 and up take no part",
    ),
    (PING, "every rank returns a time", " if comm.rank == 0 else None", "", "only rank 0 returns a time"),
    (
        PING,
        "everybody receives first",
        PING_PONG,
        """            comm.recv(1)
            comm.send(1, payload)
""",
        "Deadlock",
    ),
    (PING, "the answers are not read", PING_PONG, PING_PONG.replace("comm.recv(1)", "pass"), "nobody has received"),
    (
        PING,
        "the last round in the place of the mean",
        LOOP,
        """    rounds, every = 1, rounds
    for _ in range(every):
        start = comm.now()
""",
    ),
]
