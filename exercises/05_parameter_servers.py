"""Exercise 05: parameter servers. The last ranks keep the weights; workers push gradients and pull weights.

Write two functions, then run `check("05.shard_ranges")` and its like in the notebook, or `dlmini check 05` in a
terminal.
"""

import numpy as np

HINTS = {
    "shard_ranges": (
        "A server that is twice as fast should keep twice as many numbers. First think of equal speeds: where does "
        "server k begin?",
        "Server k begins where all before it together end: at their share of the speeds, times the length.",
        "Keep a running sum of the speeds. Multiply by the length first and divide last, in whole numbers: then each "
        "edge is rounded once. And the end of server k is an edge that you compute anyway.",
    ),
    "push_pull": (
        "Two lives in one function: a rank below N = comm.size - servers is a worker, all others are servers.",
        "A worker first sends all parts (`shard_ranges` says where to cut), then receives all parts; if it waits for "
        "an answer after each part, servers work one after another. A server adds up what its N workers send.",
        "Worker: one loop that only sends, then one that only receives; np.concatenate puts parts together. Server: "
        "one loop that only receives and adds, one step into a new array, one loop that only sends.",
    ),
}


def shard_ranges(length: int, speeds: list[int]) -> list[tuple[int, int]]:
    """Which part [low, high) of a vector of `length` numbers each server keeps, for servers of these speeds.

    Parts follow one another without gaps; server k begins at floor(length * (s_0 + ... + s_(k-1)) / (s_0 + s_1 + ...)).
    Equal speeds give equal parts, which differ by at most one number. Some parts may be empty.
    """
    raise NotImplementedError("not done yet: shard_ranges")


def push_pull(comm, mine: np.ndarray, servers: int, rate: float) -> np.ndarray:
    """One bulk-synchronous round. The last `servers` ranks are servers of equal speed, all others workers.

    mine: a worker's gradient, whole, or a server's shard of the weights. Workers push each part of the gradient to
    the server that keeps it. A server that has heard all N workers steps, w - rate * mean of the N gradients, and
    sends its new shard to all of them. Returns the new weights: a worker all of them, a server its shard. mine must
    not be changed, and the numbers keep their type. Every worker sends and receives one message per server, and pushes
    all parts before it waits for the first answer, so that servers work at the same time.
    """
    raise NotImplementedError("not done yet: push_pull")
