"""Exercise 03: data parallelism. Every rank has a gradient of its own; all take the same step.

Write two functions, then run `check("03.average_gradients")` and its like in the notebook, or `dlmini check 03` in a
terminal.
"""

import numpy as np

HINTS = {
    "average_gradients": (
        "Let one rank, 0, do the arithmetic: the others send it their gradients, and wait for its answer.",
        "Rank 0 begins with a copy of its own gradient and adds what comes from rank 1, 2, ..., in this order. "
        "When does it divide: after every message, or once?",
        "total = grad.copy(); for r in range(1, comm.size): total += comm.recv(r); total /= comm.size; then send total "
        "to every r. All others: comm.send(0, grad), and return comm.recv(0).",
    ),
    "bsp_step": (
        "A step of descent is w - rate * gradient. Whose gradient?",
        "All ranks hold the same w, and must hold the same afterwards. So all must use the same gradient.",
        "Call average_gradients, and return a new array: `w -= ...` would change the caller's weights.",
    ),
}


def average_gradients(comm, grad: np.ndarray) -> np.ndarray:
    """The mean of all ranks' gradients, on every rank, to the bit the same.

    With comm.send(dest, message) and comm.recv(source) alone: everybody sends to rank 0, which adds, divides, and sends
    the mean back. That is 2 (N - 1) messages. grad must not be changed, and the numbers keep their type.
    """
    ### BEGIN SOLUTION
    if comm.rank:
        comm.send(0, grad)
        return comm.recv(0)
    total = grad.copy()
    for rank in range(1, comm.size):
        total += comm.recv(rank)
    total /= comm.size
    for rank in range(1, comm.size):
        comm.send(rank, total)
    return total
    ### END SOLUTION


def bsp_step(comm, w: np.ndarray, grad: np.ndarray, rate: float) -> np.ndarray:
    """The weights after one bulk-synchronous step: the step that one worker with all ranks' examples would make.

    w is the same on all ranks, grad is each rank's own. Returns new weights; w and grad must not be changed.
    """
    ### BEGIN SOLUTION
    return w - rate * average_gradients(comm, grad)
    ### END SOLUTION
