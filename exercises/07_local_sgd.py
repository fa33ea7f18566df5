"""Exercise 07: Local-SGD. Learn alone for a while, then average; and an optimiser that acts on what was averaged.

Write the two functions, then run `check("07.local_round")` and its like in the notebook, or `dlmini check 07` in a
terminal. None of them changes its arguments.
"""

import numpy as np

HINTS = {
    "local_round": (
        "First learn alone: one step of descent for each of your batches, each at the weights that the last one left.",
        "Begin with a copy of w, or the caller's weights change. Only then talk, once: comm.allreduce gives the sum.",
        "A loop over the batches: each step goes down gradient(...) of *your* present weights, not of w. Behind the "
        "loop, and only there, one all-reduce: how is a mean made of a sum? The rate in the type of w keeps its type.",
    ),
    "outer_step": (
        "What the workers found together is a direction: from where they began to where their mean is now.",
        "Call it delta = w - mean: it plays the part of a gradient. The new velocity is momentum * velocity + delta.",
        "Nesterov looks ahead: the step is made of delta and of the *new* velocity, each with its factor, and begins "
        "at w, not at the mean. Return the weights first, then the velocity.",
    ),
}


def gradient(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Given: the slope of the mean of (x w - y)^2 / 2 over the rows of a batch."""
    return x.T @ (x @ w - y) / len(y)


def local_round(comm, w: np.ndarray, x: np.ndarray, y: np.ndarray, rate: float) -> np.ndarray:
    """One round of Local-SGD: a local step for each of this rank's batches, then the mean of all ranks' weights.

    w: where all ranks begin; x: [steps, rows, len(w)] and y: [steps, rows], this rank's own batches. You may use
    comm.allreduce(v), the sum of all ranks' v, but only once. w must not be changed; its type stays.
    """
    raise NotImplementedError("not done yet: local_round")


def outer_step(
    w: np.ndarray, mean: np.ndarray, velocity: np.ndarray, rate: float, momentum: float
) -> tuple[np.ndarray, np.ndarray]:
    """The outer step of DiLoCo, with Nesterov's momentum: the new weights, and the new velocity.

        delta = w - mean        v = momentum velocity + delta        new w = w - rate (delta + momentum v)
    w: the weights that the round began with; mean: the mean of all workers' weights at its end. None of the three
    arrays is changed.
    """
    raise NotImplementedError("not done yet: outer_step")
