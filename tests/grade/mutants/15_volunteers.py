"""Wrong answers to exercise 15: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

UNIT, WHO, FED, KRUM = "transition", "canonical", "fedavg", "krum"
COPIED = 'unit = {**unit, "copies": list(unit["copies"])}'
LATE = 'copies[event[1]] = "not needed" if unit["over"] and what in ("success", "error") else what'
ERRORS = 'copies.count("error") + copies.count("invalid") > unit["max_error"]'
UNSENT = 'unit["copies"] = ["not needed" if state == "unsent" else state for state in copies]'
GOOD = 'successes = [k for k, state in enumerate(copies) if state == "success"]'
ASK = 'if what == "success" and len(successes) >= unit["quorum"]:'
WORKING = 'working, first = copies.count("unsent") + copies.count("sent"), len(copies)'
ROOM = 'made = min(missing, unit["max_total"] - first)'
STUCK = "if missing > 0 and not working:"
RAISED = 'unit["target"] = max(unit["target"], copies.count("success") + 1)'
NEAR = "np.linalg.norm(a - b) <= tolerance * max(np.linalg.norm(a), np.linalg.norm(b))"
ENOUGH = "quorum // 2 + 1"
STEP = "own -= rate * xb.T @ (xb @ own - yb) / len(yb)"
SHARE = "len(y) / rows * own"
NEAREST = "np.sort(squares, axis=1)[:, 1 : n - f - 1]"

MUTANTS = [
    (UNIT, "invalid counts as success", GOOD, GOOD.replace('== "success"', 'in ("success", "invalid")'),
     "an invalid copy counts as a success"),
    (UNIT, "no reply is an error", ERRORS, 'copies.count("no reply") + ' + ERRORS, "says something of the host alone"),
    (UNIT, "given up too early", ERRORS, ERRORS.replace(">", ">="), "it takes more than max_error"),
    (UNIT, "sent copies are forgotten", WORKING, WORKING.replace(' + copies.count("sent")', ""),
     "copies under way are forgotten"),
    (UNIT, "more than max_total", ROOM, "made = missing", "more copies than max_total"),
    (UNIT, "given up while somebody is at it", STUCK, "if missing > 0:", "while a copy is still waiting or under way"),
    (UNIT, "never given up", STUCK, "if False:", "waits for ever"),
    (UNIT, "unsent copies go out after the end", UNSENT, "pass", "would still be sent out"),
    (UNIT, "a late answer is a success", LATE, "copies[event[1]] = what", "nobody needs it any more"),
    (UNIT, "asked before the quorum", ASK, ASK.replace(">= ", "+ 1 >= "), "before the quorum is reached"),
    (UNIT, "the list is changed", COPIED, "unit = dict(unit)", "Your input was changed: unit"),
    (UNIT, "one copy at a time", ROOM, ROOM.replace("min(missing", "min(1, missing")),
    (WHO, "half of all answers", ENOUGH, "len(answers) // 2 + 1", "more than half of all answers"),
    (WHO, "all of the quorum", ENOUGH, "quorum", "as many as the quorum must agree"),
    (WHO, "half is enough", ENOUGH, "(quorum + 1) // 2", "exactly half of the quorum"),
    (WHO, "it does not count itself", "len(answers) - len(wrong) >=", "len(answers) - len(wrong) - 1 >=",
     "it counts too"),
    (WHO, "it does not wait", "if len(answers) < quorum:", "if not answers:", "one is believed already"),
    (WHO, "an absolute tolerance", NEAR, "np.linalg.norm(a - b) <= tolerance", "an absolute tolerance"),
    (WHO, "of the shorter", NEAR, NEAR.replace("max(", "min("), "a share of the shorter"),
    (WHO, "number by number", NEAR, "bool((np.abs(a - b) <= tolerance * np.maximum(np.abs(a), np.abs(b))).all())",
     "numbers are compared one by one"),
    (WHO, "NaN agrees", NEAR, "not " + NEAR.replace("<=", ">"), "an answer with NaN agrees"),
    (WHO, "friends of friends", "return k, wrong",
     "return k, [j for j in wrong if not any(same(j, i) for i in range(len(answers)) if i not in wrong)]",
     "friends of friends"),
    (WHO, "the last one", "for k in range(len(answers)):", "for k in reversed(range(len(answers))):",
     "the first is believed"),
    (WHO, "the one with most friends",
     """    for k in range(len(answers)):
        wrong =""",
     """    for k in sorted(range(len(answers)), key=lambda k: sum(not same(j, k) for j in range(len(answers)))):
        wrong =""",
     "the one with most friends"),
    (WHO, "exactly at the border it is no", NEAR, NEAR.replace("<=", "<")),
    (FED, "a plain mean", SHARE, "own / len(shards)", "every client counts as much as any other"),
    (FED, "one goes on where another ended", "own = w.copy()", "own = w.copy() if x is shards[0][0] else own",
     "a client begins where the one before it has ended"),
    (FED, "w itself is changed", "own = w.copy()", "own = w", "Your input was changed: w"),
    (FED, "short batches are left out", "range(0, len(y), batch)", "range(0, len(y) - len(y) % batch, batch)",
     "shorter batch is left out"),
    (FED, "short batches are divided by batch", STEP, STEP.replace("len(yb)", "batch"), "divided by the full number"),
    (FED, "a sum over the batch", STEP, STEP.replace(" / len(yb)", ""), "a batch's gradient is a sum"),
    (FED, "divided by all rows", STEP, STEP.replace("len(yb)", "len(y)"), "divided by all rows of the client"),
    (FED, "always at w", STEP, STEP.replace("@ own -", "@ w -"), "all gradients are those of w"),
    (FED, "twice the step", STEP, STEP.replace("rate", "2 * rate"), "each step is twice as long"),
    (FED, "w twice", "return total", "return w + total", "w is added to the mean"),
    (FED, "one epoch", "for _ in range(epochs):", "for _ in range(1):", "one epoch only"),
    (FED, "one batch of an epoch", "range(0, len(y), batch)", "range(0, 1)", "one batch of each epoch only"),
    (FED, "all rows at once", "total, rows =", "batch = 10**9\n    total, rows =", "all rows in one batch"),
    (FED, "uphill", STEP, STEP.replace("-=", "+="), "uphill"),
    (FED, "the change", "return total", "return total - w", "the change alone"),
    (FED, "a bigger client counts more than its rows", SHARE,
     "len(y) ** 2 / sum(len(v) ** 2 for _, v in shards) * own"),
    (KRUM, "itself is a neighbour", NEAREST, NEAREST.replace("1 : n - f - 1", ": n - f - 2"), "only others count"),
    (KRUM, "one neighbour more", NEAREST, NEAREST.replace("n - f - 1", "n - f"), "one neighbour too many"),
    (KRUM, "all others", NEAREST, "squares", "the sum over all others"),
    (KRUM, "not squared", "((updates - row) ** 2).sum(axis=1) for", "np.linalg.norm(updates - row, axis=1) for",
     "distances are not squared"),
    (KRUM, "the largest", "np.argmin", "np.argmax", "the largest score"),
    (KRUM, "the last of equals", "int(np.argmin(scores))", "n - 1 - int(np.argmin(scores[::-1]))",
     "of equals the last"),
    (KRUM, "too few are enough", "if n < 2 * f + 3:", "if n < 1:", "the rule promises nothing there"),
    (KRUM, "the update itself", "return int(np.argmin(scores))", "return updates[np.argmin(scores)]",
     "expected the number of the chosen client"),
    (KRUM, "2f + 4 are wanted", "n < 2 * f + 3", "n < 2 * f + 4"),
    (KRUM, "ten clients at most", "n = len(updates)", "updates = updates[:10]\n    n = len(updates)"),
]  # fmt: skip
