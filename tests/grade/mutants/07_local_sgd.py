"""Wrong answers to exercise 07: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

ROUND, OUTER = "local_round", "outer_step"
STEP = "mine -= w.dtype.type(rate) * gradient(mine, batch, wanted)"
MEAN = "return comm.allreduce(mine) / w.dtype.type(comm.size)"
LOOP = f"for batch, wanted in zip(x, y, strict=True):\n        {STEP}\n    {MEAN}"
RETURN = "return w - rate * (delta + momentum * v), v"
VELOCITY = "v = momentum * velocity + delta"

MUTANTS = [
    (ROUND, "the sum in the place of the mean", MEAN, "return comm.allreduce(mine)", "the sum of all ranks' weights"),
    (ROUND, "nobody talks", MEAN, "return mine", "the ranks have not taken their mean"),
    (
        ROUND,
        "every gradient at the old weights",
        STEP,
        "mine -= w.dtype.type(rate) * gradient(w, batch, wanted)",
        "every gradient is taken at the weights of the beginning",
    ),
    (ROUND, "its input is changed", "mine = w.copy()", "mine = w", "Your input was changed: w"),
    (
        ROUND,
        "averages after every step",
        STEP,
        STEP + "\n        mine = comm.allreduce(mine) / comm.size",
        "a mean after every step",
    ),
    (
        ROUND,
        "averages before the last step, as published",
        LOOP,
        LOOP.replace("zip(x, y,", "zip(x[:-1], y[:-1],")
        .replace("(comm.size)", "(comm.size) - last")
        .replace("    return", "    last = w.dtype.type(rate) * gradient(mine, x[-1], y[-1])\n    return"),
        "the mean is taken before the last step",
    ),
    (ROUND, "double precision whatever comes", "mine = w.copy()", 'mine = w.astype("f8")', "holds float64"),
    (ROUND, "the first batch again and again", STEP, STEP.replace("batch, wanted", "x[0], y[0]")),
    (ROUND, "the last batch is left out", "zip(x, y, strict=True)", "zip(x[: len(x) - (len(x) > 9)], y)"),
    (ROUND, "talks twice", MEAN, "comm.allreduce(mine)\n    " + MEAN, "talking once, one all-reduce"),
    (OUTER, "heavy ball in the place of Nesterov", RETURN, "return w - rate * v, v", "a heavy ball"),
    (OUTER, "away from the mean", "delta = w - mean", "delta = mean - w", "away from the mean"),
    (
        OUTER,
        "looks ahead with the old velocity",
        RETURN,
        "return w - rate * (delta + momentum * velocity), v",
        "Nesterov looks ahead with the new one",
    ),
    (
        OUTER,
        "the old velocity is returned",
        RETURN,
        "return w - rate * (delta + momentum * v), velocity",
        "the old velocity is returned",
    ),
    (OUTER, "velocity first", RETURN, "return v, w - rate * (delta + momentum * v)", "have changed places"),
    (
        OUTER,
        "the caller's velocity is changed",
        VELOCITY,
        "velocity *= momentum\n    v = velocity + delta",
        "Your input was changed: velocity",
    ),
    (OUTER, "begins at the mean", RETURN, "return mean - rate * (delta + momentum * v), v", "step begins at the mean"),
    (OUTER, "the rate inside the velocity", VELOCITY, "v = momentum * velocity + rate * delta"),
    (OUTER, "no step without a difference", RETURN, "return w - rate * (delta + momentum * v) * (delta != 0), v"),
]
