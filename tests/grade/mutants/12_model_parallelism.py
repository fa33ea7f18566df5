"""Wrong answers to exercise 12: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

PAIR, PIPE, ORDER, ZERO = "column_row_linear", "gpipe", "one_f_one_b", "zero_memory"
Z = "z = comm.allreduce(y @ B) + b"
DX = "dx = comm.allreduce(dy @ A.T)"
DY = "dy = (dz @ B.T) * (y > 0)"
KEPT = "dW += kept[i].T @ dy"
FORWARDS = "    for i in range(micros):\n        x = xs[i]"
BACKWARDS = "    for i in range(micros):\n        dy = slopes[i]"
AHEAD = "ahead = min(ranks - rank - 1, micros)"
SHARES = "for first in (3, 2, 1)]"
HALVES = "halves = 3 if stage == 3 else 2"

MUTANTS = [
    (PAIR, "the bias on every rank", Z, "z = comm.allreduce(y @ B + b)", "the bias is added by every rank"),
    (PAIR, "no sum forward", Z, "z = y @ B + b", "this is my share of z"),
    (PAIR, "no bias", Z, "z = comm.allreduce(y @ B)", "the bias b is missing"),
    (PAIR, "no sum back", DX, "dx = dy @ A.T", "this is my share of dx"),
    (
        PAIR,
        "the mean of shares",
        Z,
        "z = comm.allreduce(y @ B) / comm.size + b",
        "this is the mean of all ranks' shares",
    ),
    (PAIR, "no ReLU at all", "np.maximum(x @ A + a, 0)", "x @ A + a", "the ReLU is missing"),
    (PAIR, "dz summed over ranks", DY, f"dz = comm.allreduce(dz) * 1\n    {DY}", "dz is added up over ranks first"),
    (PAIR, "db a mean", "dz.sum(axis=0)\n", "dz.mean(axis=0)\n", "this is the mean over rows"),
    (PAIR, "no ReLU on the way back", DY, "dy = dz @ B.T", "the ReLU is not looked at"),
    (PAIR, "db summed over ranks", "dz.sum(axis=0)\n", "comm.allreduce(dz.sum(axis=0))\n", "db is summed over ranks"),
    (PAIR, "gradients of columns summed", "x.T @ dy, dy", "comm.allreduce(x.T @ dy), dy", "mine are mine alone"),
    (
        PAIR,
        "every output to everyone",
        Z,
        "z = sum(comm.allgather(y @ B)) + b",
        "one sum of z and one of dx",
    ),
    (PAIR, "the input is changed", "y = np.maximum", "x *= 1.0 + (x > 1)\n    y = np.maximum"),
    (PAIR, "only half of the ranks", Z, "z = comm.allreduce((y @ B) * (comm.rank < 4)) + b"),
    (PIPE, "the last micro-batch alone", KEPT, "dW = kept[i].T @ dy", "of the last micro-batch alone"),
    (PIPE, "the last x for all", KEPT, KEPT.replace("[i]", "[-1]"), "keep every one"),
    (PIPE, "the mean", "return dW", "return dW / micros", "this is the mean over micro-batches"),
    (PIPE, "back in the opposite order", KEPT, KEPT.replace("[i]", "[-1 - i]"), "belong to different ones"),
    (
        PIPE,
        "one micro-batch at a time",
        "            comm.send(comm.rank + 1, y)\n    for i in range(micros):\n        dy",
        "            comm.send(comm.rank + 1, y)\n        dy",
        "each micro-batch has come back before the next one left",
    ),
    (PIPE, "forwards take no time", 'comm.compute("forward", lambda x: x @ W, x)', "x @ W", "was called 0 times"),
    (PIPE, "double precision", "np.zeros_like(W)", "np.zeros(W.shape)"),
    (PIPE, "the input is changed", "        kept.append(x)\n", "        x *= 2 - (i < 3)\n        kept.append(x)\n"),
    (PIPE, "only the first micro-batches", "return dW", "return dW if micros < 5 else 0 * dW"),
    (ORDER, "GPipe's order", AHEAD, "ahead = micros", "this is GPipe's order"),
    (ORDER, "a warm-up too long", AHEAD, "ahead = min(ranks - rank, micros)", "one forward too long"),
    (ORDER, "a warm-up too short", AHEAD, "ahead = min(max(ranks - rank - 2, 0), micros)", "one forward too short"),
    (ORDER, "the other end", AHEAD, "ahead = min(rank, micros)", "the first rank has the longest"),
    (ORDER, "no warm-up", AHEAD, "ahead = 0", "without a warm-up"),
    (
        ORDER,
        "the last comes back first",
        'jobs.append(("backward", i))',
        'jobs.append(("backward", micros - 1 - i))',
        "backwards are in the opposite order",
    ),
    (
        ORDER,
        "the last backwards are missing",
        "    for i in range(micros):\n        if i",
        "    for i in range(micros - ahead):\n        if i",
        "the backwards that are left at the end are missing",
    ),
    (
        ORDER,
        "forward i before backward i",
        '("forward", i + ahead)',
        '("forward", i)',
        "of micro-batch i + warm-up, not i",
    ),
    (ORDER, "more forwards than there are", "if i + ahead < micros:", "if i + ahead < micros + 1:"),
    (ORDER, "a warm-up beyond the last micro-batch", AHEAD, "ahead = ranks - rank - 1"),
    (ZERO, "nothing is shared out", SHARES, "for first in (9, 9, 9)]", "nothing is shared out"),
    (ZERO, "weights first", SHARES, "for first in (1, 2, 3)]", "not the weights"),
    (ZERO, "everything at once", SHARES, "for first in (1, 1, 1)]", "that is stage 3"),
    (ZERO, "the optimiser is left behind", "if stage >= first", "if stage == first", "is shared out, too"),
    (ZERO, "half an all-reduce", HALVES, "halves = 1", "one half of an all-reduce is missing"),
    (ZERO, "weights gathered once", HALVES, "halves = 2", "stage 3 gathers weights twice"),
    (ZERO, "four halves", HALVES, "halves = 4 if stage == 3 else 2", "three halves, not four"),
    (
        ZERO,
        "sent first",
        "return numbers * held, halves * (ranks - 1) / ranks * numbers",
        "return halves * (ranks - 1) / ranks * numbers, numbers * held",
        "the two answers are exchanged",
    ),
    (ZERO, "one's own part, too", "halves * (ranks - 1) / ranks", "halves", "own part is not sent"),
    (ZERO, "whole bytes", "return numbers * held,", "return numbers // ranks * ranks * held,"),
    (ZERO, "always half precision", "(weights, gradients, optimiser)", "(2, 2, 12)"),
]
