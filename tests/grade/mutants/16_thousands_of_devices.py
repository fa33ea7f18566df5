"""Wrong answers to exercise 16: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

ZERO, CUT, BEST = "zero2_traffic", "cut_stages", "best_layout"
OVER = "if filled and filled + size > bucket:"
LEAVES = "\n            flushes.append(filled * gradient)\n            filled = 0"
REST = "    if filled:\n        flushes.append(filled * gradient)\n    part"
SENT = "2 * part * sum(flushes) + part * weight * sum(sizes)"
FITS = 'if n / tensor * (cost["state"] + min(m, pipe) * micro * cost["kept"]) > room:'
SYNC = '+ 2 * (data - 1) / data * n / tensor * cost["sync"]'
MICROS = "for micro in (1, 2, 4, 8):"

MUTANTS = [
    (ZERO, "forward order", "reversed(sizes)", "sizes", "in the order of the forward pass"),
    (ZERO, "a bucket of bytes", "filled + size > bucket", "(filled + size) * gradient > bucket", "counted in bytes"),
    (
        ZERO,
        "too late",
        f"{OVER}{LEAVES}\n        filled += size",
        f"filled += size\n        if filled > bucket:{LEAVES}",
        "must wait for the next one",
    ),
    (ZERO, "the rest stays", REST, "    part", "never sent"),
    (ZERO, "scattered", SENT, SENT.replace("2 * part *", "part *", 1), "a flush is an all-reduce"),
    (ZERO, "no gather", SENT, "2 * part * sum(flushes)", "the all-gather of weights is missing"),
    (ZERO, "one's own part", "part = (ranks - 1) / ranks", "part = 1", "own part is not sent"),
    (ZERO, "elements", "return flushes,", "return [n // gradient for n in flushes],", "these are elements"),
    (ZERO, "full is too full", "> bucket:", ">= bucket:"),
    (ZERO, "an empty flush", OVER, "if filled + size > bucket:"),
    (ZERO, "the list is changed", "flushes, filled = [], 0", "flushes, filled = [], 0\n    sizes.sort()"),
    (ZERO, "always half precision", "part * weight *", "part * 2 *"),
    (
        CUT,
        "equal counts",
        "    return counts",
        "    n = len(times)\n    return [n // stages + (i < n % stages) for i in range(stages)]",
        "every stage has as many layers",
    ),
    (
        CUT,
        "filled to the mean",
        "for limit in sorted(row for row in rows if row >= max(times)):",
        "for limit in [sum(times) / stages]:",
    ),
    (CUT, "too few stages", "while len(counts) < stages:", "while False:", "stages of one layer or more"),
    (CUT, "the largest limit", "sorted(row for row in rows if row >= max(times))", "[sum(times)]"),
    (CUT, "the list is changed", "rows = {", "times.sort()\n    rows = {"),
    (CUT, "an empty stage", "[counts[full] - 1, 1]", "[counts[full], 0]", "stages of one layer or more"),
    (BEST, "memory is not looked at", FITS, "if False:", "memory was not looked at"),
    (BEST, "no bubble", "(m + pipe - 1) * n", "m * n", "filling and emptying"),
    (BEST, "across nodes", "range(1, per_node + 1)", "range(1, devices + 1)", "must stay inside a node"),
    (BEST, "GPipe's memory", "min(m, pipe) * micro", "m * micro", "at most p micro-batches"),
    (BEST, "one in flight", "min(m, pipe) * micro", "micro", "not one"),
    (BEST, "sums are free", '+ micro * cost["talk"] * (tensor > 1)', "", "sums inside layers take time"),
    (BEST, "copies are free", SYNC, "", "summed among the copies"),
    (BEST, "no start", 'cost["start"] + micro', "micro", "whatever its size (start) is missing"),
    (BEST, "whole work", 'cost["work"] / tensor', 'cost["work"]', "work / tensor"),
    (BEST, "whole bytes", FITS, FITS.replace("n / tensor", "n"), "n / tensor"),
    (
        BEST,
        "more micro-batches",
        "m, n = batch // (data * micro)",
        "m, n = batch // data",
        "m = batch / (data x micro)",
    ),
    (BEST, "micro-batches of 1", MICROS, "for micro in (1,):", "only micro-batches of 1"),
    (BEST, "fewer micro-batches in flight", "min(m, pipe) * micro", "pipe * micro"),
    (BEST, "uneven batches", "or batch % (data * micro)", ""),
    (BEST, "uneven stages", " or layers % pipe", ""),
    (BEST, "no micro-batch of 8", MICROS, MICROS.replace(", 8", "")),
    (BEST, "an empty layout if nothing fits", "return best[1]", "return best[1] or (1, 1, devices, 1)"),
]
