"""Exercise 15: volunteers and federation. What becomes of a work unit, who is believed, and a mean among liars.

Write four functions, then run `check("15.transition")` and its like in the notebook, or `dlmini check 15` in a
terminal.
"""

import numpy as np

HINTS = {
    "transition": (
        "Two parts, one after the other: first what the event changes, then what has to be decided. Begin with a copy "
        "of the unit, and of its list of copies.",
        "Decide in this order: too many errors? Over, so that nothing unsent is needed any more? A new answer, and "
        "enough of them to compare? And only then: how many copies are missing?",
        "Missing are those of `target` that are neither waiting, nor under way, nor successful. As many are made as "
        "are missing and as max_total leaves room for. If there is no room: is anybody still at work on this unit?",
    ),
    "canonical": (
        "Write down first when two answers agree. Then ask each answer, in order, with how many it agrees.",
        "Every answer agrees with itself. With a quorum of 3 two that agree are enough, however many have come; but "
        "fewer answers than the quorum are not even looked at.",
        "The length is np.linalg.norm. Compare by <=, and NaN takes care of itself: what does Python say to nan <= 1? "
        "When one is found: with which answers does it not agree itself?",
    ),
    "fedavg": (
        "Write one client first: where does it begin, and what does it do with one batch?",
        "A batch's gradient is a mean over its rows, and the last batch may have fewer. Every client begins with the "
        "weights of the server, not with those that the one before it has left.",
        "Three loops inside one another: clients, epochs, batches. After a client's last epoch its weights are added "
        "to the sum, times its share of all rows.",
    ),
    "krum": (
        "Begin with the table of all squared distances, n times n. What stands on its diagonal?",
        "Sort each row. The first number is the distance to oneself, 0: which ones are the n - f - 2 nearest others?",
        "The score of a client is the sum of these; the smallest score wins, and np.argmin takes the first of equals. "
        "What do n and f have to obey before any of this means something?",
    ),
}


def transition(unit: dict, event: tuple) -> tuple[dict, list]:
    """(unit, orders): what has become of a work unit after an event, and what the server has to do now.

    unit["copies"]: a word for each copy: "unsent", "sent", "success", "error", "no reply", "invalid", "not needed".
    unit["quorum"], ["target"], ["max_error"], ["max_total"]: whole numbers. unit["over"]: "", "accepted" or "failed".

    1. The event.
       ("sent", k), ("success", k), ("error", k), ("no reply", k), ("invalid", k)    copy k has this state now; but a
                                  success or an error of a unit that is over is "not needed"
       ("agreed", k, wrong)       the validator believes copy k: the unit is over, "accepted"; those in the list wrong
                                  are "invalid"
       ("disagreed",)             target rises to one more than there are successes, if it is less
    2. If it is not over and has more than max_error copies that are "error" or "invalid": it is "failed".
    3. If it is over: whatever is "unsent" is "not needed". Orders: [("give up",)] if it has failed just now, else [].
    4. If the event was a success, and there are at least quorum of them: [("validate", numbers of all successes)].
    5. missing = target - unsent - sent - successes. If some are missing, make as many "unsent" copies as are missing
       and max_total leaves room for: [("offer", numbers of the new copies)]. If there is no room, and nothing is unsent
       or sent: it is "failed", [("give up",)].
    The arguments must not be changed.
    """
    ### BEGIN SOLUTION
    unit = {**unit, "copies": list(unit["copies"])}
    copies, what = unit["copies"], event[0]
    if what == "agreed":
        unit["over"] = "accepted"
        for k in event[2]:
            copies[k] = "invalid"
    elif what == "disagreed":
        unit["target"] = max(unit["target"], copies.count("success") + 1)
    else:
        copies[event[1]] = "not needed" if unit["over"] and what in ("success", "error") else what
    before = unit["over"]
    if not before and copies.count("error") + copies.count("invalid") > unit["max_error"]:
        unit["over"] = "failed"
    if unit["over"]:
        unit["copies"] = ["not needed" if state == "unsent" else state for state in copies]
        return unit, [] if before else [("give up",)]
    successes = [k for k, state in enumerate(copies) if state == "success"]
    if what == "success" and len(successes) >= unit["quorum"]:
        return unit, [("validate", successes)]
    working, first = copies.count("unsent") + copies.count("sent"), len(copies)
    missing = unit["target"] - working - len(successes)
    made = min(missing, unit["max_total"] - first)
    if made > 0:
        copies += ["unsent"] * made
        return unit, [("offer", list(range(first, first + made)))]
    if missing > 0 and not working:
        unit["over"] = "failed"
        return unit, [("give up",)]
    return unit, []
    ### END SOLUTION


def canonical(answers: list[np.ndarray], quorum: int, tolerance: float) -> tuple[int | None, list[int]]:
    """(k, wrong): the answer that is believed, and those that do not agree with it; (None, []) if there is none.

    Two answers agree if  |a - b| <= tolerance max(|a|, |b|),  lengths of vectors. Every answer agrees with itself.
    Believed is the first one that agrees with at least floor(quorum / 2) + 1 answers, itself included. With fewer
    answers than the quorum none is. An answer with a NaN in it agrees with no other.
    """
    ### BEGIN SOLUTION
    if len(answers) < quorum:
        return None, []

    def same(j, k):
        a, b = answers[j], answers[k]
        return j == k or np.linalg.norm(a - b) <= tolerance * max(np.linalg.norm(a), np.linalg.norm(b))

    for k in range(len(answers)):
        wrong = [j for j in range(len(answers)) if not same(j, k)]
        if len(answers) - len(wrong) >= quorum // 2 + 1:
            return k, wrong
    return None, []
    ### END SOLUTION


def fedavg(w: np.ndarray, shards: list[tuple], epochs: int, batch: int, rate: float) -> np.ndarray:
    """One round of federated averaging: every client descends alone on its own rows, then their weights are averaged.

    shards: (x, y) of each client, x of shape (rows, len(w)); what is learned is y = x @ w. A client begins with w and
    goes over its rows `epochs` times, in their order, in batches of `batch` rows (the last one may be shorter):
        own weights -= rate * x_b.T @ (x_b @ own weights - y_b) / rows of the batch
    The result is the mean of their weights, each weighted by its share of all rows. The arguments must not be changed.
    """
    ### BEGIN SOLUTION
    total, rows = np.zeros_like(w), sum(len(y) for _, y in shards)
    for x, y in shards:
        own = w.copy()
        for _ in range(epochs):
            for low in range(0, len(y), batch):
                xb, yb = x[low : low + batch], y[low : low + batch]
                own -= rate * xb.T @ (xb @ own - yb) / len(yb)
        total += len(y) / rows * own
    return total
    ### END SOLUTION


def krum(updates: np.ndarray, f: int) -> int | None:
    """The number of the update that is chosen, if f of the n updates may be lies; None if n < 2f + 3.

    updates: one row per client. The score of a client is the sum of the squared distances to the n - f - 2 others that
    are nearest to it. The lowest score is chosen; of equals the first.
    """
    ### BEGIN SOLUTION
    n = len(updates)
    if n < 2 * f + 3:
        return None
    squares = np.array([((updates - row) ** 2).sum(axis=1) for row in updates])
    scores = np.sort(squares, axis=1)[:, 1 : n - f - 1].sum(axis=1)
    return int(np.argmin(scores))
    ### END SOLUTION
