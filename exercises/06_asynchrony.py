"""Exercise 06: asynchrony. A gate that holds back the fastest, a server that knows how old a push is, a replica.

Write three functions, then run `check("06.ssp_may_proceed")` and its like in the notebook, or `dlmini check 06` in a
terminal.
"""

import numpy as np

HINTS = {
    "ssp_may_proceed": (
        "How many rounds is this worker ahead of the slowest one?",
        "With bound 0 only those go on who are not ahead at all; with an infinite bound everybody always does.",
        "Subtract the rounds of the slowest from this worker's. Exactly `bound` ahead is allowed, and the slowest "
        "itself may always go on: if your gate ever holds it back, nobody can catch up.",
    ),
    "apply_push": (
        "Staleness is the number of steps that the server has made since the worker read the weights.",
        "staleness = version - read. Dividing by it would divide by 0 for a fresh push: what does max(1, ...) do?",
        "Shorten the rate, then step as always, down the push. Make a new array (-= would change the server's), and "
        "mind the second thing to return: the server has made one step more.",
    ),
    "downpour_step": (
        "Learn first, as if alone: the step is rate * gradient. Then remember that the server has not heard of it.",
        "unsent collects steps. After steps push - 1, 2 push - 1, ... (t counts from 0) it becomes the message, and a "
        "new, empty one is begun.",
        "Four lines: the step; w and unsent with it, as new arrays; the message, None unless t + 1 steps are a period, "
        "and then a *new* array of zeros for unsent (zeros written into the old one would empty the message as well). "
        "Fetching has its own period, of the same form.",
    ),
}


def ssp_may_proceed(clocks: list[int], worker: int, bound: float) -> bool:
    """May `worker` begin its next round? Only if it is at most `bound` rounds ahead of the slowest worker.

    clocks: how many rounds each worker has done, not to be changed. bound 0 is bulk-synchronous, infinity asynchronous.
    """
    raise NotImplementedError("not done yet: ssp_may_proceed")


def apply_push(w: np.ndarray, push: np.ndarray, version: int, read: int, rate: float) -> tuple[np.ndarray, int]:
    """The server's step on one push: the new weights, and their version.

    The server has made `version` steps so far; the worker computed its push on the weights after `read` steps. A push
    that is s steps old counts 1 / max(1, s): w - rate / max(1, s) * push. w and push must not be changed, and the new
    weights have their type.
    """
    raise NotImplementedError("not done yet: apply_push")


def downpour_step(
    w: np.ndarray, unsent: np.ndarray, gradient: np.ndarray, t: int, rate: float, push: int, fetch: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None, bool]:
    """Step t = 0, 1, 2, ... of a replica: (w, unsent, message, whether to fetch the server's weights now).

    Learn alone, w - rate * gradient. `unsent` is the sum of those steps, rate * gradient, of which the server has not
    heard. After every `push` steps it is the message, and begins anew with zeros; otherwise the message is None. After
    every `fetch` steps the replica fetches. Nothing that was passed in may be changed; numbers keep their type.
    """
    raise NotImplementedError("not done yet: downpour_step")
