"""Wrong answers to exercise 06: (function, what is wrong, this of the solution, that in its place)."""

GATE, SERVER, REPLICA = "ssp_may_proceed", "apply_push", "downpour_step"
AHEAD = "return clocks[worker] - min(clocks) <= bound"
STEP = "w - rate / max(1, staleness) * push, version + 1"
LEARN = "w, unsent, message = w - step, unsent + step, None"

MUTANTS = [
    (GATE, "the bound itself is not allowed", AHEAD, "return clocks[worker] - min(clocks) < max(bound, 1)"),
    (GATE, "one round too far", AHEAD, "return clocks[worker] - min(clocks) <= bound + 1"),
    (GATE, "compared with the fastest", AHEAD, "return max(clocks) - clocks[worker] <= bound"),
    (GATE, "compared with the mean", AHEAD, "return clocks[worker] - sum(clocks) / len(clocks) <= bound"),
    (GATE, "all wait while anybody is too far ahead", AHEAD, "return max(clocks) - min(clocks) <= bound"),
    (SERVER, "age is ignored", STEP, "w - rate * push, version + 1"),
    (SERVER, "a push counts 1 / (s + 1)", STEP, "w - rate / (1 + staleness) * push, version + 1"),
    (SERVER, "the version stays", STEP, "w - rate / max(1, staleness) * push, version"),
    (SERVER, "uphill", STEP, "w + rate / max(1, staleness) * push, version + 1"),
    (
        SERVER,
        "the step is made in the caller's weights",
        f"return {STEP}",
        "w -= rate / max(1, staleness) * push; return w, version + 1",
    ),
    (REPLICA, "pushes before the first step of a period", "if (t + 1) % push == 0:", "if t % push == 0:"),
    (REPLICA, "only the last step is pushed", LEARN, "w, unsent, message = w - step, step, None"),
    (
        REPLICA,
        "what was pushed is kept",
        "message, unsent = unsent, np.zeros_like(unsent)",
        "message, unsent = unsent, unsent",
    ),
    (REPLICA, "the replica does not learn alone", LEARN, "w, unsent, message = w + 0, unsent + step, None"),
    (REPLICA, "fetches whenever it pushes", "(t + 1) % fetch == 0", "(t + 1) % push == 0"),
    (
        REPLICA,
        "steps are collected in the caller's array",
        LEARN,
        "unsent += step; w, message = w - step, None",
    ),
]
