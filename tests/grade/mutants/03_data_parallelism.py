"""Wrong answers to exercise 03: (function, what is wrong, this of the solution, that in its place, what check says)."""

MEAN, STEP = "average_gradients", "bsp_step"
ADD = "        total += comm.recv(rank)\n"
DIVIDE = "    total /= comm.size\n"
ASK = """    if comm.rank:
        comm.send(0, grad)
        return comm.recv(0)
"""
TELL = "        comm.send(rank, total)\n"
RETURN = "return w - rate * average_gradients(comm, grad)"

MUTANTS = [
    (MEAN, "the sum in the place of the mean", DIVIDE, "", "this is the sum of all gradients, not their mean"),
    (
        MEAN,
        "only rank 0 divides for itself",
        TELL,
        TELL.replace("total", "total * comm.size"),
        "rank 1 of 3: this is the sum",
    ),
    (
        MEAN,
        "divides once per message",
        f"{ADD}{DIVIDE}",
        f"{ADD}        total /= comm.size\n",
        "you divided by N once per message",
    ),
    (MEAN, "a running mean", f"{ADD}{DIVIDE}", f"{ADD}        total /= 2\n", "you halved after every message"),
    (
        MEAN,
        "divides by the number of the others",
        DIVIDE,
        "    total /= max(1, comm.size - 1)\n",
        "you divided by N - 1",
    ),
    (MEAN, "rank 0 forgets itself", "grad.copy()", "np.zeros_like(grad)", "rank 0's own gradient is missing"),
    (MEAN, "adds to the caller's gradient", "total = grad.copy()", "total = grad", "Your input was changed: grad"),
    (MEAN, "single precision whatever comes", "grad.copy()", 'grad.astype("f4")', "holds float32, expected float64"),
    (
        MEAN,
        "everybody sends to everybody",
        ASK,
        """    if comm.size:
        for rank in range(comm.size):
            if rank != comm.rank: comm.send(rank, grad)
        every = [grad if rank == comm.rank else comm.recv(rank) for rank in range(comm.size)]
        return (sum(every) / comm.size).astype(grad.dtype)
""",
        "everybody sends to rank 0 only",
    ),
    (
        MEAN,
        "waits for the answer before it asks",
        ASK,
        """    if comm.rank:
        mean = comm.recv(0)
        comm.send(0, grad)
        return mean
""",
        "Deadlock",
    ),
    (MEAN, "at least two ranks are assumed", DIVIDE, "    total /= max(2, comm.size)\n"),
    (
        MEAN,
        "rank 0 rounds otherwise than it tells",
        "    return total\n",
        "    return (total * np.float32(1 / 3)) * np.float32(3)\n",
    ),
    (
        STEP,
        "the sum in the place of the mean",
        RETURN,
        "return w - rate * comm.size * average_gradients(comm, grad)",
        "the step is N times too long",
    ),
    (
        STEP,
        "divided once more",
        RETURN,
        "return w - rate * average_gradients(comm, grad) / comm.size",
        "the step is N times too short",
    ),
    (STEP, "only my own gradient", RETURN, "return w - rate * grad", "a step against the rank's own gradient"),
    (STEP, "uphill", RETURN, "return w + rate * average_gradients(comm, grad)", "this goes uphill"),
    (
        STEP,
        "first my own step, then that of the mean",
        RETURN,
        "return w - rate * grad - rate * average_gradients(comm, grad)",
        "there are two steps",
    ),
    (
        STEP,
        "the gradient is returned",
        RETURN,
        "return average_gradients(comm, grad)",
        "the new weights were asked for",
    ),
    (
        STEP,
        "changes the caller's weights",
        RETURN,
        "w -= rate * average_gradients(comm, grad); return w",
        "Your input was changed: w",
    ),
    (STEP, "double precision whatever comes", RETURN, RETURN.replace("rate *", "np.float64(rate) *"), "holds float64"),
    (STEP, "the rate is counted twice", RETURN, "return w - rate * average_gradients(comm, rate * grad)"),
    (
        STEP,
        "rank 0 does not round",
        RETURN,
        """mean = average_gradients(comm, grad)
    if comm.rank:
        return w - rate * mean
    return (w - rate * mean.astype("f8")).astype(w.dtype)""",
    ),
    (STEP, "alone nobody steps", RETURN, f"return w if comm.size == 1 else {RETURN[7:]}"),
]
