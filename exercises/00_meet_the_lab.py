"""Exercise 00: ranks, messages, and the cost of one.

Write three functions, then run `check("00.shard")` and its like in the notebook, or `dlmini check 00` in a terminal.
"""

import numpy as np

HINTS = {
    "shard": (
        "Where does the shard of rank r begin, if n is a multiple of the number of ranks? Where does it end?",
        "Rank r's end is rank r + 1's begin. So one formula for the edge between two shards is enough.",
        "Rank r should begin at the share r / size of all n rows. Multiply first, and round once, always in the same "
        "direction: then edge 0 is 0, edge `size` is n, and what is left over spreads by itself.",
    ),
    "fit_alpha_beta": (
        "The unknowns enter linearly: seconds = alpha * 1 + beta * size. One equation per point, two unknowns.",
        "np.linalg.lstsq solves A @ [alpha, beta] = seconds in the sense of least squares. What are A's two columns?",
        "Or by hand: the slope is how size and time vary together, over how size varies. And one point always lies on "
        "the best line: which one? It gives you alpha.",
    ),
    "ping_pong": (
        "Rank 0 sends and then receives; rank 1 receives and then sends back what it got. What do the others do?",
        "Read comm.now() on rank 0 before the first send and after the last receive: one clock, so nothing to align.",
        "How many messages have travelled, one after the other, between your two looks at the clock?",
    ),
}


def shard(n: int, size: int, rank: int) -> tuple[int, int]:
    """Rows [lo, hi) of n that belong to `rank` of `size`.

    Shards follow one another in the order of ranks, every row has one owner, and no rank has two rows more than
    another: shard(10, 4, 0) is (0, 2) or (0, 3). lo and hi are whole numbers; with n < size some shards are empty.
    """
    raise NotImplementedError("not done yet: shard")


def fit_alpha_beta(sizes: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    """The line seconds = alpha + beta * size through measured points: latency alpha, and beta = 1 / bandwidth.

    Of all lines the one with the least sum of squared errors, every error as it is. sizes are in bytes, in any order;
    both arrays have the same length, and must not be changed.
    """
    raise NotImplementedError("not done yet: fit_alpha_beta")


def ping_pong(comm, payload: np.ndarray, rounds: int) -> float | None:
    """How many seconds one message with this payload takes from rank 0 to rank 1, or back.

    `rounds` times rank 0 sends its payload to rank 1, which sends back what it got (it may have a payload of its own).
    Rank 0 returns the mean time of one message, by its own clock, which need not begin at 0; every other rank returns
    None. Ranks 2 and up take no part: they send nothing.

    comm.send(dest, message), comm.recv(source), comm.now() (seconds), comm.rank, comm.size.
    """
    raise NotImplementedError("not done yet: ping_pong")
