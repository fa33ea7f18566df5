"""Wrong answers to exercise 04: (function, what is wrong, this of the solution, that in its place)."""

OWN_CHUNK = "chunk(total, (r + 1) % n, n).copy()"

ONE_STEP = """comm.send((r + 1) % n, chunk(total, (r - t) % n, n))
        coming = chunk(total, (r - t - 1) % n, n)
        coming += comm.recv((r - 1) % n)"""

LAP = """    for t in range(size - 1):
        comm.send((r + 1) % size, chunk(whole, (r + 1 - t) % size, size))
        chunk(whole, (r - t) % size, size)[:] = comm.recv((r - 1) % size)
"""

HALVES = "return ring_allgather(comm, ring_reduce_scatter(comm, x), len(x))"

DOWN = """    for d in reversed(distances):
        if comm.rank % (2 * d) == d:
            total = comm.recv(comm.rank - d)
        elif comm.rank % (2 * d) == 0 and comm.rank + d < comm.size:
            comm.send(comm.rank + d, total)
"""

LEVELS = """[1 << k for k in range((comm.size - 1).bit_length())]
"""

MUTANTS = [
    ("ring_reduce_scatter", "one step too few", "for t in range(n - 1):", "for t in range(n - 2):"),
    ("ring_reduce_scatter", "the neighbour's chunk is returned", OWN_CHUNK, "chunk(total, r, n).copy()"),
    (
        "ring_reduce_scatter",
        "the mean in the place of the sum",
        OWN_CHUNK,
        "chunk(total, (r + 1) % n, n) / n",
    ),
    (
        "ring_reduce_scatter",
        "the whole vector travels in every step",
        ONE_STEP,
        """comm.send((r + 1) % n, total)
        coming = chunk(total, (r - t - 1) % n, n)
        coming += chunk(comm.recv((r - 1) % n), (r - t - 1) % n, n)""",
    ),
    (
        "ring_reduce_scatter",
        "one rank after the other",
        ONE_STEP,
        """coming = chunk(total, (r - t - 1) % n, n)
        if r == 0: comm.send(1 % n, chunk(total, -t % n, n))
        coming += comm.recv((r - 1) % n)
        if r: comm.send((r + 1) % n, chunk(total, (r - t) % n, n))""",
    ),
    ("ring_reduce_scatter", "its input is changed", "comm.rank, x.copy()", "comm.rank, x"),
    ("ring_allgather", "one step too few", "for t in range(size - 1):", "for t in range(size - 2):"),
    (
        "ring_allgather",
        "the own chunk in the wrong place",
        "chunk(whole, (r + 1) % size, size)[:] = mine",
        "chunk(whole, r, size)[:] = mine",
    ),
    (
        "ring_allgather",
        "always the own chunk is passed on",
        "comm.send((r + 1) % size, chunk(whole, (r + 1 - t) % size, size))",
        "comm.send((r + 1) % size, mine)",
    ),
    (
        "ring_allgather",
        "everybody sends to everybody",
        LAP,
        """    for other in range(size):
        if other != r:
            comm.send(other, mine)
    for other in range(size):
        if other != r:
            chunk(whole, (other + 1) % size, size)[:] = comm.recv(other)
""",
    ),
    (
        "ring_allgather",
        "chunks of equal length are assumed",
        "np.empty(n, mine.dtype)",
        "np.empty(len(mine) * comm.size, mine.dtype)",
    ),
    (
        "ring_allreduce",
        "all vectors go to everybody",
        HALVES,
        """for other in range(comm.size):
        if other != comm.rank:
            comm.send(other, x)
    return sum([x if o == comm.rank else comm.recv(o) for o in range(comm.size)])""",
    ),
    (
        "ring_allreduce",
        "every rank adds in its own order",
        HALVES,
        """total, going = x.copy(), x
    for _ in range(comm.size - 1):
        comm.send((comm.rank + 1) % comm.size, going)
        going = comm.recv((comm.rank - 1) % comm.size)
        total += going
    return total""",
    ),
    (
        "ring_allreduce",
        "the sum at one rank, and back",
        HALVES,
        """total = x.copy()
    if comm.rank:
        comm.send(0, x)
        return comm.recv(0)
    for other in range(1, comm.size):
        total += comm.recv(other)
    for other in range(1, comm.size):
        comm.send(other, total)
    return total""",
    ),
    ("tree_allreduce", "powers of two are assumed", " and comm.rank + d < comm.size", ""),
    ("tree_allreduce", "its input is changed", "total, distances = x.copy()", "total, distances = x"),
    ("tree_allreduce", "nothing comes back down", DOWN, ""),
    (
        "tree_allreduce",
        "a star in the place of a tree",
        LEVELS,
        """[]
    if comm.rank:
        comm.send(0, total)
        return comm.recv(0)
    for other in range(1, comm.size):
        total += comm.recv(other)
    for other in range(1, comm.size):
        comm.send(other, total)
""",
    ),
    (
        "tree_allreduce",
        "everybody adds up for itself",
        DOWN,
        """    total = x.copy()
    for k in range(1, comm.size):
        comm.send((comm.rank + k) % comm.size, x, tag=1)
    for k in range(1, comm.size):
        total = total + comm.recv((comm.rank - k) % comm.size, tag=1)
""",
    ),
    (
        "tree_allreduce",
        "one level too few",
        "range((comm.size - 1).bit_length())",
        "range(max(0, (comm.size - 1).bit_length() - 1))",
    ),
]
