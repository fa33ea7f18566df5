"""Wrong answers to exercise 06: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

GATE, SERVER, REPLICA = "ssp_may_proceed", "apply_push", "downpour_step"
AHEAD = "return clocks[worker] - min(clocks) <= bound"
STEP = "w - rate / max(1, staleness) * push, version + 1"
LEARN = "w, unsent, message = w - step, unsent + step, None"
RESET = "message, unsent = unsent, np.zeros_like(unsent)"

MUTANTS = [
    (
        GATE,
        "the bound itself is not allowed",
        AHEAD,
        "return clocks[worker] - min(clocks) < max(bound, 1)",
        "exactly `bound` rounds ahead is still allowed",
    ),
    (GATE, "one round too far", AHEAD, "return clocks[worker] - min(clocks) <= bound + 1", "one round too far"),
    (GATE, "compared with the fastest", AHEAD, "return max(clocks) - clocks[worker] <= bound", "with the fastest"),
    (GATE, "compared with the mean", AHEAD, "return clocks[worker] - sum(clocks) / len(clocks) <= bound"),
    (
        GATE,
        "all wait while anybody is too far ahead",
        AHEAD,
        "return max(clocks) - min(clocks) <= bound",
        "everybody is held back, the slowest too",
    ),
    (
        GATE,
        "the clocks are sorted in place",
        AHEAD,
        "mine = clocks[worker]\n    clocks.sort()\n    return mine - clocks[0] <= bound",
        "Your input was changed: clocks",
    ),
    (
        SERVER,
        "a fresh push is divided by 0",
        STEP,
        "w - rate / staleness * push, version + 1",
        "a push with staleness 0: ZeroDivisionError",
    ),
    (
        SERVER,
        "a fresh push is divided by 0, by NumPy",
        STEP,
        "w - rate / np.float64(staleness) * push, version + 1",
        "divided by a staleness of 0",
    ),
    (SERVER, "age is ignored", STEP, "w - rate * push, version + 1", "the age of the push is ignored"),
    (SERVER, "a push counts 1 / (s + 1)", STEP, "w - rate / (1 + staleness) * push, version + 1", "here it counts 1/5"),
    (SERVER, "the version stays", STEP, "w - rate / max(1, staleness) * push, version", "the step was not counted"),
    (SERVER, "uphill", STEP, "w + rate / max(1, staleness) * push, version + 1", "uphill"),
    (SERVER, "the version that was read, plus one", STEP, "w - rate / max(1, staleness) * push, read + 1"),
    (SERVER, "old pushes are dropped", STEP, "w - (staleness < 30) * rate / max(1, staleness) * push, version + 1"),
    (
        SERVER,
        "the step is made in the caller's weights",
        f"return {STEP}",
        "w -= rate / max(1, staleness) * push; return w, version + 1",
        "Your input was changed: w",
    ),
    (
        REPLICA,
        "pushes before the first step of a period",
        "if (t + 1) % push == 0:",
        "if t % push == 0:",
        "a message: one step too early",
    ),
    (
        REPLICA,
        "fetches before the first step of a period",
        "(t + 1) % fetch == 0",
        "t % fetch == 0",
        "fetches: one step too early",
    ),
    (REPLICA, "only the last step is pushed", LEARN, "w, unsent, message = w - step, step, None", "only the last step"),
    (REPLICA, "what was pushed is kept", RESET, "message, unsent = unsent, unsent", "what has been pushed is kept"),
    (
        REPLICA,
        "the replica does not learn alone",
        LEARN,
        "w, unsent, message = w + 0, unsent + step, None",
        "the replica has not learned alone",
    ),
    (
        REPLICA,
        "gradients are collected, not steps",
        LEARN,
        "w, unsent, message = w - step, unsent + gradient, None",
        "gradients are collected",
    ),
    (REPLICA, "fetches whenever it pushes", "(t + 1) % fetch == 0", "(t + 1) % push == 0", "whenever it pushes"),
    (
        REPLICA,
        "steps are collected in the caller's array",
        LEARN,
        "unsent += step; w, message = w - step, None",
        "Your input was changed: unsent",
    ),
    (REPLICA, "the message is emptied with what it was made of", RESET, "message = unsent; unsent *= 0"),
]
