"""Wrong answers to exercise 03: (function, what is wrong, this of the solution, that in its place)."""

MEAN, STEP = "average_gradients", "bsp_step"
ADD = """    total = grad.copy()
    for rank in range(1, comm.size):
        total += comm.recv(rank)
    total /= comm.size
"""
RETURN = "return w - rate * average_gradients(comm, grad)"

MUTANTS = [
    (MEAN, "the sum in the place of the mean", "    total /= comm.size\n", ""),
    (
        MEAN,
        "divides once per message",
        ADD,
        """    total = grad.copy()
    for rank in range(1, comm.size):
        total += comm.recv(rank)
        total /= comm.size
""",
    ),
    (MEAN, "divides by the number of the others", "total /= comm.size", "total /= max(1, comm.size - 1)"),
    (MEAN, "adds to the caller's gradient", "total = grad.copy()", "total = grad"),
    (
        MEAN,
        "single precision whatever comes",
        "total = grad.copy()",
        'total = grad.astype("f4")',
    ),
    (
        MEAN,
        "everybody sends to everybody",
        """    if comm.rank:
        comm.send(0, grad)
        return comm.recv(0)
""",
        """    if comm.size:
        for rank in range(comm.size):
            if rank != comm.rank: comm.send(rank, grad)
        every = [grad if rank == comm.rank else comm.recv(rank) for rank in range(comm.size)]
        return (sum(every) / comm.size).astype(grad.dtype)
""",
    ),
    (STEP, "the sum in the place of the mean", RETURN, "return w - rate * comm.size * average_gradients(comm, grad)"),
    (STEP, "only my own gradient", RETURN, "return w - rate * grad"),
    (STEP, "uphill", RETURN, "return w + rate * average_gradients(comm, grad)"),
    (STEP, "changes the caller's weights", RETURN, "w -= rate * average_gradients(comm, grad); return w"),
    (
        STEP,
        "first my own step, then the mean of gradients",
        RETURN,
        "return w - rate * grad - rate * average_gradients(comm, grad)",
    ),
    (STEP, "the rate is counted twice", RETURN, "return w - rate * average_gradients(comm, rate * grad)"),
]
