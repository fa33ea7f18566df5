"""Wrong answers to exercise 07: (function, what is wrong, this of the solution, that in its place)."""

ROUND, OUTER = "local_round", "outer_step"
STEP = "mine -= w.dtype.type(rate) * gradient(mine, batch, wanted)"
MEAN = "return comm.allreduce(mine) / w.dtype.type(comm.size)"
RETURN = "return w - rate * (delta + momentum * v), v"

MUTANTS = [
    (ROUND, "the sum in the place of the mean", MEAN, "return comm.allreduce(mine)"),
    (ROUND, "nobody talks", MEAN, "return mine"),
    (ROUND, "every gradient at the old weights", STEP, "mine -= w.dtype.type(rate) * gradient(w, batch, wanted)"),
    (ROUND, "its input is changed", "mine = w.copy()", "mine = w"),
    (ROUND, "the first batch again and again", STEP, STEP.replace("batch, wanted", "x[0], y[0]")),
    (ROUND, "averages after every step", STEP, STEP + "\n        mine = comm.allreduce(mine) / comm.size"),
    (OUTER, "heavy ball in the place of Nesterov", RETURN, "return w - rate * v, v"),
    (OUTER, "away from the mean", "delta = w - mean", "delta = mean - w"),
    (
        OUTER,
        "the rate inside the velocity",
        "v = momentum * velocity + delta",
        "v = momentum * velocity + rate * delta",
    ),
    (OUTER, "looks ahead with the old velocity", RETURN, "return w - rate * (delta + momentum * velocity), v"),
    (OUTER, "begins at the mean", RETURN, "return mean - rate * (delta + momentum * v), v"),
    (OUTER, "the old velocity is returned", RETURN, "return w - rate * (delta + momentum * v), velocity"),
]
