"""Wrong answers to exercise 04: (function, what is wrong, this of the solution, that in its place, what check says)."""

SCATTER, GATHER, RING, TREE = "ring_reduce_scatter", "ring_allgather", "ring_allreduce", "tree_allreduce"

OWN_CHUNK = "chunk(total, (r + 1) % n, n).copy()"

ONE_STEP = """comm.send((r + 1) % n, chunk(total, (r - t) % n, n))
        coming = chunk(total, (r - t - 1) % n, n)
        coming += comm.recv((r - 1) % n)"""

LAP = """    for t in range(size - 1):
        comm.send((r + 1) % size, chunk(whole, (r + 1 - t) % size, size))
        chunk(whole, (r - t) % size, size)[:] = comm.recv((r - 1) % size)
"""

HALVES = "return ring_allgather(comm, ring_reduce_scatter(comm, x), len(x))"

UP = """        if comm.rank % (2 * d) == d:
            comm.send(comm.rank - d, total)
"""

DOWN = """    for d in reversed(distances):
        if comm.rank % (2 * d) == d:
            total = comm.recv(comm.rank - d)
        elif comm.rank % (2 * d) == 0 and comm.rank + d < comm.size:
            comm.send(comm.rank + d, total)
"""

LEVELS = """[1 << k for k in range((comm.size - 1).bit_length())]
"""

MUTANTS = [
    (
        SCATTER,
        "one step too few",
        "for t in range(n - 1):",
        "for t in range(n - 2):",
        "a lap around 3 ranks has N - 1 steps",
    ),
    (
        SCATTER,
        "N steps for N - 1",
        "for t in range(n - 1):",
        "for t in range(n):",
        "a lap around 3 ranks has N - 1 steps",
    ),
    (
        SCATTER,
        "the neighbour's chunk is returned",
        OWN_CHUNK,
        "chunk(total, r, n).copy()",
        "returned chunk 0, in which not all",
    ),
    (
        SCATTER,
        "everything one place on",
        f"{ONE_STEP}\n    return {OWN_CHUNK}",
        """comm.send((r + 1) % n, chunk(total, (r - t - 1) % n, n))
        coming = chunk(total, (r - t - 2) % n, n)
        coming += comm.recv((r - 1) % n)
    return chunk(total, r, n).copy()""",
        "returned chunk 0 of the sum, expected chunk 1",
    ),
    (
        SCATTER,
        "the mean in the place of the sum",
        OWN_CHUNK,
        "chunk(total, (r + 1) % n, n) / n",
        "this is a mean, a sum was",
    ),
    (
        SCATTER,
        "what comes replaces the own",
        "coming += comm.recv((r - 1) % n)",
        "coming[:] = comm.recv((r - 1) % n)",
        "what comes must be added",
    ),
    (
        SCATTER,
        "something else is sent than was added up",
        "chunk(total, (r - t) % n, n))",
        "chunk(x, (r - t) % n, n))",
        "are missing in the sum",
    ),
    (
        SCATTER,
        "to the left",
        ONE_STEP,
        ONE_STEP.replace("send((r + 1)", "send((r - 1)").replace("recv((r - 1)", "recv((r + 1)"),
        "sent to its left",
    ),
    (
        SCATTER,
        "the whole vector travels in every step",
        ONE_STEP,
        """comm.send((r + 1) % n, total)
        coming = chunk(total, (r - t - 1) % n, n)
        coming += chunk(comm.recv((r - 1) % n), (r - t - 1) % n, n)""",
        "one chunk in each step",
    ),
    (
        SCATTER,
        "one rank after the other",
        ONE_STEP,
        """coming = chunk(total, (r - t - 1) % n, n)
        if r == 0: comm.send(1 % n, chunk(total, -t % n, n))
        coming += comm.recv((r - 1) % n)
        if r: comm.send((r + 1) % n, chunk(total, (r - t) % n, n))""",
        "all ranks must send at the same time",
    ),
    (SCATTER, "its input is changed", "comm.rank, x.copy()", "comm.rank, x", "Your input was changed: x"),
    (SCATTER, "a ring of one adds itself", "for t in range(n - 1):", "for t in range(max(1, n - 1)):"),
    (GATHER, "one step too few", "range(size - 1):", "range(size - 2):", "a lap around 3 ranks has N - 1 steps"),
    (GATHER, "N steps for N - 1", "range(size - 1):", "range(size):", "a lap around 3 ranks has N - 1 steps"),
    (
        GATHER,
        "the own chunk in the wrong place",
        "chunk(whole, (r + 1) % size, size)[:] = mine",
        "chunk(whole, r, size)[:] = mine",
        "was sent on before it had come",
    ),
    (
        GATHER,
        "always the own chunk is passed on",
        "comm.send((r + 1) % size, chunk(whole, (r + 1 - t) % size, size))",
        "comm.send((r + 1) % size, mine)",
        "chunk 0 went where chunk 2 belongs",
    ),
    (
        GATHER,
        "chunk i where chunk i + 1 belongs",
        "chunk(whole, (r - t) % size, size)[:] = comm.recv((r - 1) % size)",
        "chunk(whole, (r - t - 1) % size, size)[:] = comm.recv((r - 1) % size)",
        "went where chunk",
    ),
    (
        GATHER,
        "everybody sends to everybody",
        LAP,
        """    for other in range(size):
        if other != r:
            comm.send(other, mine)
    for other in range(size):
        if other != r:
            chunk(whole, (other + 1) % size, size)[:] = comm.recv(other)
""",
        "in a ring one sends to the right",
    ),
    (
        GATHER,
        "everybody receives first",
        LAP,
        """    for t in range(size - 1):
        come = comm.recv((r - 1) % size)
        comm.send((r + 1) % size, chunk(whole, (r + 1 - t) % size, size))
        chunk(whole, (r - t) % size, size)[:] = come
""",
        "Deadlock",
    ),
    (
        GATHER,
        "chunks of equal length are assumed",
        "np.empty(n, mine.dtype)",
        "np.empty(len(mine) * comm.size, mine.dtype)",
        "could not broadcast",
    ),
    (GATHER, "single precision whatever comes", "np.empty(n, mine.dtype)", "np.empty(n, 'f4')", "holds float32"),
    (GATHER, "alone one has nothing", "    return whole\n", "    return whole if size > 1 else 0 * whole\n"),
    (
        RING,
        "all vectors go to everybody",
        HALVES,
        """for other in range(comm.size):
        if other != comm.rank:
            comm.send(other, x)
    return sum([x if o == comm.rank else comm.recv(o) for o in range(comm.size)])""",
    ),
    (
        RING,
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
        RING,
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
    (RING, "the mean in the place of the sum", HALVES, f"{HALVES} / comm.size", "this is a mean, a sum was asked for"),
    (TREE, "powers of two are assumed", " and comm.rank + d < comm.size", "", "but the ranks are 0 ... 2"),
    (TREE, "its input is changed", "total, distances = x.copy()", "total, distances = x", "Your input was changed: x"),
    (TREE, "nothing comes back down", DOWN, "", "it must come back down"),
    (TREE, "down in the order of up", "reversed(distances)", "distances", "it must come back down"),
    (
        TREE,
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
        "this is a star",
    ),
    (
        TREE,
        "one level too few",
        "(comm.size - 1).bit_length())",
        "max(0, (comm.size - 1).bit_length() - 1))",
        "are missing",
    ),
    (
        TREE,
        "the mean in the place of the sum",
        "    return total\n    #",
        "    return total / comm.size\n    #",
        "this is a mean",
    ),
    (
        TREE,
        "what comes up replaces the own",
        "total += comm.recv(comm.rank + d)",
        "total = comm.recv(comm.rank + d)",
        "must be added",
    ),
    (TREE, "its own vector goes up, not the sum", UP, UP.replace("total", "x"), "are missing in the sum"),
    (
        TREE,
        "single precision whatever comes",
        "total, distances = x.copy()",
        "total, distances = x.astype('f4')",
        "holds float32",
    ),
    (
        TREE,
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
        TREE,
        "the root rounds once more",
        "    return total\n    #",
        "    return total * np.float32(1 / 3) * 3 if comm.rank == 0 else total\n    #",
    ),
]
