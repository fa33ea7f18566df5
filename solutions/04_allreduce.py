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
        "Fill in a table for three ranks: step 0 and step 1, which chunk goes out, and where does what comes "
        "belong? One rank further right all numbers are one higher; one step later all are one lower.",
    ),
    "ring_allgather": (
        "Again N - 1 steps to the right. This time nothing is added: what comes is put in its place and passed on.",
        "Begin with np.empty(n, mine.dtype) and put your own chunk, number (r + 1) mod N, where it belongs.",
        "What came in one step goes out in the next, so one formula gives both. In the first step the left neighbour "
        "sends its own chunk: which number has it, seen from rank r?",
    ),
    "tree_allreduce": (
        "Up: ranks pair off, one of each pair sends its vector and waits; the others go on, at twice the distance.",
        "At distance d = 1, 2, 4, ... only multiples of d are still in; every second one of these sends, and is out. "
        "Which remainder by 2 d tells them apart? A receiver near the end may have no partner.",
        "Down: the same pairs in the opposite order of d, sender and receiver exchanged. Now nobody adds: what comes "
        "is the sum already. Who never receives on the way down?",
    ),
}


def chunk(x: np.ndarray, c: int, parts: int) -> np.ndarray:
    """Chunk c of `parts` as a view: writing to it writes to x. Their lengths differ by at most one."""
    return x[c * len(x) // parts : (c + 1) * len(x) // parts]


def ring_reduce_scatter(comm, x: np.ndarray) -> np.ndarray:
    """Around the ring once: rank r returns chunk (r + 1) mod N of the sum of all ranks' vectors.

    In each of N - 1 steps every rank sends one chunk to its right neighbour, (r + 1) mod N, and receives one from its
    left, all at the same time. x must not be changed, and the numbers keep their type; all ranks' vectors are equally
    long, in chunks that may be unequal or empty.
    """
    ### BEGIN SOLUTION
    n, r, total = comm.size, comm.rank, x.copy()
    for t in range(n - 1):
        comm.send((r + 1) % n, chunk(total, (r - t) % n, n))
        coming = chunk(total, (r - t - 1) % n, n)
        coming += comm.recv((r - 1) % n)
    return chunk(total, (r + 1) % n, n).copy()
    ### END SOLUTION


def ring_allgather(comm, mine: np.ndarray, n: int) -> np.ndarray:
    """Around the ring once more: rank r brings chunk (r + 1) mod N of a vector of n numbers, and returns all of it.

    In each of N - 1 steps every rank sends one chunk to its right neighbour and receives one from its left, all at the
    same time. The numbers keep their type; chunks may be unequal or empty.
    """
    ### BEGIN SOLUTION
    size, r, whole = comm.size, comm.rank, np.empty(n, mine.dtype)
    chunk(whole, (r + 1) % size, size)[:] = mine
    for t in range(size - 1):
        comm.send((r + 1) % size, chunk(whole, (r + 1 - t) % size, size))
        chunk(whole, (r - t) % size, size)[:] = comm.recv((r - 1) % size)
    return whole
    ### END SOLUTION


def ring_allreduce(comm, x: np.ndarray) -> np.ndarray:
    """The sum of all ranks' vectors, on every rank: your two halves, one after the other."""
    return ring_allgather(comm, ring_reduce_scatter(comm, x), len(x))


def tree_allreduce(comm, x: np.ndarray) -> np.ndarray:
    """The sum of all ranks' vectors, on every rank: added up along a binomial tree to rank 0, and sent back down it.

    2 ceil(log2 N) steps and 2 (N - 1) messages, for any N. x must not be changed, and the numbers keep their type.
    """
    ### BEGIN SOLUTION
    total, distances = x.copy(), [1 << k for k in range((comm.size - 1).bit_length())]
    for d in distances:
        if comm.rank % (2 * d) == d:
            comm.send(comm.rank - d, total)
        elif comm.rank % (2 * d) == 0 and comm.rank + d < comm.size:
            total += comm.recv(comm.rank + d)
    for d in reversed(distances):
        if comm.rank % (2 * d) == d:
            total = comm.recv(comm.rank - d)
        elif comm.rank % (2 * d) == 0 and comm.rank + d < comm.size:
            comm.send(comm.rank + d, total)
    return total
    ### END SOLUTION
