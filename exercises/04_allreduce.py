"""Exercise 04: all-reduce. Every rank brings a vector; every rank gets the sum of all.

Write three functions with comm.send and comm.recv alone (sends never wait for the receiver), then run
`check("04.ring_allreduce")` and its like in the notebook, or `dlmini check 04` in a terminal.
"""

import numpy as np

HINTS = {
    "ring_reduce_scatter": (
        "Draw a ring of three ranks and three chunks. In each step every rank sends one chunk to the right, "
        "and adds the chunk that comes from the left to its own.",
        "What you send in a step is what you added up in the step before. Rank r begins with chunk r.",
        "In step t (t = 0 ... N - 2) rank r sends chunk (r - t) mod N and adds to chunk (r - t - 1) mod N.",
    ),
    "ring_allgather": (
        "Again N - 1 steps to the right. This time nothing is added: what comes is put in its place and passed on.",
        "Begin with np.empty(n, mine.dtype) and put your own chunk, number (r + 1) mod N, where it belongs.",
        "In step t rank r sends chunk (r + 1 - t) mod N and receives chunk (r - t) mod N.",
    ),
    "tree_allreduce": (
        "Up: ranks pair off, one of each pair sends its vector and waits; the others go on, at twice the distance.",
        "At distance d = 1, 2, 4, ... rank r sends to r - d if r % (2 d) == d, and receives from r + d "
        "if r % (2 d) == 0 and r + d < N.",
        "Down: the same pairs in the opposite order of d, sender and receiver exchanged; what comes replaces yours.",
    ),
}


def chunk(x: np.ndarray, c: int, parts: int) -> np.ndarray:
    """Chunk c of `parts` as a view: writing to it writes to x. Their lengths differ by at most one."""
    return x[c * len(x) // parts : (c + 1) * len(x) // parts]


def ring_reduce_scatter(comm, x: np.ndarray) -> np.ndarray:
    """Around the ring once: rank r returns chunk (r + 1) mod N of the sum of all ranks' vectors.

    In each of N - 1 steps every rank sends one chunk to its right neighbour, (r + 1) mod N, and receives one from its
    left. x must not be changed; all ranks' vectors are equally long.
    """
    raise NotImplementedError("not done yet: ring_reduce_scatter")


def ring_allgather(comm, mine: np.ndarray, n: int) -> np.ndarray:
    """Around the ring once more: rank r brings chunk (r + 1) mod N of a vector of n numbers, and returns all of it.

    In each of N - 1 steps every rank sends one chunk to its right neighbour and receives one from its left.
    """
    raise NotImplementedError("not done yet: ring_allgather")


def ring_allreduce(comm, x: np.ndarray) -> np.ndarray:
    """The sum of all ranks' vectors, on every rank: your two halves, one after the other."""
    return ring_allgather(comm, ring_reduce_scatter(comm, x), len(x))


def tree_allreduce(comm, x: np.ndarray) -> np.ndarray:
    """The sum of all ranks' vectors, on every rank: added up along a binomial tree to rank 0, and sent back down it.

    2 ceil(log2 N) steps and 2 (N - 1) messages, for any N. x must not be changed.
    """
    raise NotImplementedError("not done yet: tree_allreduce")
