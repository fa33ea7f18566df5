"""Exercise 10: sparsification. Send few numbers, and lose none.

Write three functions and one method, then run `check("10.top_k")` and its like in the notebook, or `dlmini check 10` in
a terminal. Vectors are 1-D, of float32 or float64; none of the functions changes its arguments.
"""

import numpy as np

HINTS = {
    "top_k": (
        "Sort the places by magnitude, the largest first, and keep the first k of them. Then put them in order again.",
        "np.argsort(-np.abs(u), kind='stable') sorts places so that of equal magnitudes the first place comes first.",
        "Cut that list after k places (a slice bears a k that is larger than u), bring the places back into their own "
        "order and into their type, and only then look up the values: in u, with their signs.",
    ),
    "adaptive_threshold": (
        "How many numbers are to pass? round(keep * len(u)), but at least one. Which magnitude is the last of them?",
        "Sort all magnitudes: the count-th from the top is the threshold. Nothing has to be interpolated.",
        "Of a sorted list the last entry has the index -1, so the count-th from the top has -count: what would a count "
        "of 0 give? And an empty u has no entry at all: think of it first.",
    ),
    "error_feedback": (
        "p is the update plus what was left unsaid. Choose from p, not from the update.",
        "index, values = top_k(p, self.k). What has been said is no longer unsaid: which numbers of p become zero?",
        "Make p a new array (+= would change the memory's or the caller's), keep it as self.unsaid, and take off what "
        "goes out. Test yourself: all that was sent + unsaid = all updates.",
    ),
    "sparse_allreduce": (
        "Pass packets around the ring: N - 1 times send to the right what came last, beginning with your own.",
        "In step t the packet that comes from the left was made by rank (r - t - 1) mod N. Keep all, by their maker.",
        "Add nothing on the way. When all N packets are there, begin with zeros and add them by their maker's rank, 0 "
        "first: floating-point sums depend on the order, and all ranks must hold the same bits.",
    ),
}


def top_k(u: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(index, values): the k numbers of largest magnitude; all, if there are fewer than k.

    index: their places, ascending, int32; values: u at these places. Of equal magnitudes the first places win.
    """
    raise NotImplementedError("not done yet: top_k")


def adaptive_threshold(u: np.ndarray, keep: float) -> float:
    """The threshold tau for which |u_i| >= tau holds for the share `keep` of all numbers.

    That is the magnitude of the last of round(keep d) numbers, at least one, counted from the largest; 0.0 if u is
    empty.
    """
    raise NotImplementedError("not done yet: adaptive_threshold")


class ErrorFeedback:
    """The memory of one worker: what top-k has left unsaid is added to the next update.

    Conservation: all that was sent + unsaid = all updates.
    """

    def __init__(self, size: int, k: int, dtype="f4"):
        self.k, self.unsaid = k, np.zeros(size, dtype)

    def encode(self, update: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(index, values) of the k largest of update + unsaid, by your top_k; the rest is remembered."""
        raise NotImplementedError("not done yet: ErrorFeedback.encode")


def error_feedback(updates: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(sent, unsaid): rows of updates through your memory, one after the other. Given; nothing to write here."""
    memory, sent = ErrorFeedback(updates.shape[1], k, updates.dtype), np.zeros_like(updates)
    for row, update in zip(sent, updates, strict=True):
        index, values = memory.encode(update)
        row[index] = values
    return sent, memory.unsaid


def sparse_allreduce(comm, index: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
    """The sum of all ranks' sparse vectors as a dense one of `size` numbers, on every rank, in the type of values.

    Packets (index, values) go around the ring: in each of N - 1 steps every rank sends one message to its right
    neighbour, (r + 1) mod N, and receives one from its left. All ranks add to zeros in the order of ranks, 0 first:
    equal bits.
    """
    raise NotImplementedError("not done yet: sparse_allreduce")
