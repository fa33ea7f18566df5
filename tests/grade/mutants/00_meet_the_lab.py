"""Wrong answers to exercise 00: (function, what is wrong, this of the solution, that in its place)."""

EDGES = "return rank * n // size, (rank + 1) * n // size"

FIT = """n, t = np.asarray(sizes, float), np.asarray(seconds, float)
    beta = ((n - n.mean()) * (t - t.mean())).sum() / ((n - n.mean()) ** 2).sum()
    return float(t.mean() - beta * n.mean()), float(beta)"""

MEAN = "/ (2 * rounds)"

LOOP = """    for _ in range(rounds):
"""

REPLY = """elif comm.rank == 1:
            comm.send(0, comm.recv(0))"""

MUTANTS = [
    ("shard", "rows left over belong to nobody", EDGES, "return rank * (n // size), (rank + 1) * (n // size)"),
    (
        "shard",
        "rows left over all go to the last rank",
        EDGES,
        "return rank * (n // size), n if rank == size - 1 else (rank + 1) * (n // size)",
    ),
    (
        "shard",
        "rounded up, so that the last ranks starve",
        EDGES,
        "k = -(-n // size); return min(rank * k, n), min((rank + 1) * k, n)",
    ),
    ("shard", "begins one row too late", EDGES, "return rank * n // size + (rank > 0), (rank + 1) * n // size"),
    (
        "shard",
        "a length in the place of the end",
        EDGES,
        "return rank * n // size, (rank + 1) * n // size - rank * n // size",
    ),
    (
        "fit_alpha_beta",
        "through the first and the last point",
        FIT,
        """i, j = np.argmin(sizes), np.argmax(sizes)
    beta = (seconds[j] - seconds[i]) / (sizes[j] - sizes[i])
    return float(seconds[i] - beta * sizes[i]), float(beta)""",
    ),
    (
        "fit_alpha_beta",
        "through the origin",
        FIT,
        "return 0.0, float((sizes * seconds).sum() / (sizes.astype(float) ** 2).sum())",
    ),
    (
        "fit_alpha_beta",
        "alpha and beta exchanged",
        FIT,
        """n, t = np.asarray(sizes, float), np.asarray(seconds, float)
    beta = ((n - n.mean()) * (t - t.mean())).sum() / ((n - n.mean()) ** 2).sum()
    return float(beta), float(t.mean() - beta * n.mean())""",
    ),
    (
        "fit_alpha_beta",
        "bandwidth in the place of its inverse",
        FIT,
        """n, t = np.asarray(sizes, float), np.asarray(seconds, float)
    beta = ((n - n.mean()) * (t - t.mean())).sum() / ((n - n.mean()) ** 2).sum()
    return float(t.mean() - beta * n.mean()), float(1 / beta)""",
    ),
    (
        "fit_alpha_beta",
        "sorts its input in place, sizes without their times",
        FIT,
        """sizes.sort()
    n, t = np.asarray(sizes, float), np.asarray(seconds, float)
    beta = ((n - n.mean()) * (t - t.mean())).sum() / ((n - n.mean()) ** 2).sum()
    return float(t.mean() - beta * n.mean()), float(beta)""",
    ),
    ("ping_pong", "the whole round trip", MEAN, "/ rounds"),
    ("ping_pong", "the time of all rounds", MEAN, "/ 2"),
    ("ping_pong", "an empty answer", "comm.send(0, comm.recv(0))", "comm.recv(0); comm.send(0, np.empty(0, np.uint8))"),
    (
        "ping_pong",
        "only the last round is timed",
        LOOP,
        """    for _ in range(rounds):
        start = comm.now()
""",
    ),
    (
        "ping_pong",
        "all other ranks answer too",
        REPLY,
        """elif comm.rank == 1:
            comm.send(0, comm.recv(0))
        else:
            comm.send(comm.rank, payload); comm.recv(comm.rank)""",
    ),
    ("ping_pong", "every rank returns a time", " if comm.rank == 0 else None", ""),
]
