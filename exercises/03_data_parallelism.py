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
        "Two lives: rank 0 hears every other rank, one after another, divides, and answers each; another rank says one "
        "thing and hears one thing. Into which array may rank 0 add, if grad must stay as it is?",
    ),
    "bsp_step": (
        "A step of descent is w - rate * gradient. Whose gradient?",
        "All ranks hold the same w, and must hold the same afterwards. So all must use the same gradient.",
        "One call of average_gradients gives every rank the same vector. Then: which way of writing a step makes a new "
        "array, and which one writes into the caller's weights?",
    ),
}


def average_gradients(comm, grad: np.ndarray) -> np.ndarray:
    """The mean of all ranks' gradients, on every rank, to the bit the same.

    With comm.send(dest, message) and comm.recv(source) alone: everybody sends to rank 0, which adds, divides, and sends
    the mean back. That is 2 (N - 1) messages. grad must not be changed, and the numbers keep their type.
    """
    raise NotImplementedError("not done yet: average_gradients")


def bsp_step(comm, w: np.ndarray, grad: np.ndarray, rate: float) -> np.ndarray:
    """The weights after one bulk-synchronous step: the step that one worker with all ranks' examples would make.

    w is the same on all ranks, grad is each rank's own. Returns new weights of w's type; w and grad must not be
    changed.
    """
    raise NotImplementedError("not done yet: bsp_step")
