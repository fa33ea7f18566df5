"""Exercise 13: Sandblaster. A direction from the last steps, portions for whoever is free, and every portion once.

Write three functions, then run `check("13.two_loop")` and its like in the notebook, or `dlmini check 13` in a terminal.
"""

import numpy as np

HINTS = {
    "two_loop": (
        "Without pairs the direction is minus the gradient. With one pair each loop has one pass: write that first.",
        "The first loop takes away from q what the newest pair explains, then what the one before explains, and so on. "
        "Keep each share: the second loop needs it, in the other order.",
        "Copy the gradient before you change it. Between the loops multiply by s.y / y.y of the newest pair, if there "
        "is one. In the second loop the product y.q is taken with q as it is by then.",
    ),
    "next_portion": (
        "Two questions, one after the other: does any portion wait? And if none does, is there one worth doing twice?",
        "A copy is made only of a portion that is late, and only by a replica that does not hold it already.",
        "Of several late ones: the fewest holders first; of those the one that was handed out first. `held` is in that "
        "order, and `min` takes the first of equals. What does `min` do with an empty row?",
    ),
    "counted": (
        "A copy is (portion, replica). When is it whole?",
        "For each copy remember which shards have it. The same message may come twice, so remember shards, not how "
        "many messages.",
        "Go through the messages in their order. At the moment at which a copy becomes whole: does another copy of the "
        "same portion count already?",
    ),
}


def two_loop(grad: np.ndarray, pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The direction -H grad of L-BFGS, from the last steps s and the changes y of the gradient along them.

        newest to oldest   a_i = s_i.q / s_i.y_i,  q -= a_i y_i            q begins as the gradient
        then               q *= s.y / y.y  of the newest pair
        oldest to newest   q += (a_i - y_i.q / s_i.y_i) s_i                the direction is -q
    pairs: (s, y), the oldest first; there may be none. The arguments must not be changed.
    """
    raise NotImplementedError("not done yet: two_loop")


def next_portion(replica: int, waiting: list[int], held: dict[int, list[int]], late: list[int]) -> int | None:
    """The portion that a free replica gets; None if there is none for it.

    waiting: portions that nobody works on, in any order: it gets the lowest number. If none waits, a copy of a portion
    that is late and that this replica does not hold: of those with the fewest holders the one handed out first.
    held: portion -> replicas that work on it, in the order in which portions were handed out. late: some of these.
    The arguments must not be changed.
    """
    raise NotImplementedError("not done yet: next_portion")


def counted(staged: list[tuple[int, int, int]], shards: int) -> dict[int, int]:
    """portion -> the replica whose copy of it counts, of those portions of which one does.

    staged: (shard, portion, replica) in the order in which the coordinator hears them: "I have my piece of this
    portion's gradient, from this replica". A copy is whole when all shards 0 ... shards - 1 have it. The first whole
    copy of a portion counts, all others are dropped. The same message may come twice, and a replica may die between two
    shards, so that its copy is never whole.
    """
    raise NotImplementedError("not done yet: counted")
