"""Wrong answers to exercise 10: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

TOP, TAU, MEMORY, RING = "top_k", "adaptive_threshold", "error_feedback", "sparse_allreduce"
SORTED = 'np.sort(np.argsort(-np.abs(u), kind="stable")[:k]).astype(np.int32)'
LAST = "return float(np.sort(np.abs(u))[-count])"
COUNT = "max(1, round(keep * len(u)))"
REMEMBER = "self.unsaid = self.unsaid + update"
SAID = "self.unsaid[index] -= values"
LAP = "for t in range(n - 1):"
SEND = "comm.send((r + 1) % n, last)"

MUTANTS = [
    (
        TOP,
        "the largest values, not magnitudes",
        SORTED,
        SORTED.replace("-np.abs(u)", "-u"),
        "the largest values, expected the largest magnitudes",
    ),
    (
        TOP,
        "the places are not in order",
        SORTED,
        'np.argsort(-np.abs(u), kind="stable")[:k].astype(np.int32)',
        "places are in the order of magnitudes, expected ascending",
    ),
    (
        TOP,
        "all that are as large as the k-th",
        SORTED,
        "np.flatnonzero(np.abs(u) >= np.sort(np.abs(u))[-k]).astype('i4')",
        "more than k = 4",
    ),
    (
        TOP,
        "of equal magnitudes the last win",
        SORTED,
        "np.sort(np.argsort(np.abs(u), kind='stable')[-k:]).astype(np.int32)",
        "of equal magnitudes the last places win",
    ),
    (
        TOP,
        "the same place twice",
        SORTED,
        "np.sort([np.flatnonzero(np.abs(u) == m)[0] for m in np.sort(np.abs(u))[::-1][:k]]).astype(np.int32)",
        "a place is named twice",
    ),
    (TOP, "signs are lost", "return index, u[index]", "return index, np.abs(u[index])", "signs are lost"),
    (
        TOP,
        "k must not be larger than u",
        SORTED,
        SORTED.replace("[:k]", "[[*range(k)]]"),
        "5 numbers and k = 9: IndexError",
    ),
    (TOP, "places in 64 bits", ".astype(np.int32)\n    return index", "\n    return index", "expected int32"),
    (TOP, "the vector becomes its magnitudes", SORTED, SORTED.replace("-np.abs(u)", "-np.abs(u, out=u)"), "changed: u"),
    (TOP, "ties in long vectors", SORTED, SORTED.replace('kind="stable"', "kind=None if len(u) > 20 else 'stable'")),
    (
        TAU,
        "one number too many",
        LAST,
        LAST.replace("-count", "-min(count + 1, len(u))"),
        "one number too many passes",
    ),
    (TAU, "values, not magnitudes", LAST, LAST.replace("np.abs(u)", "u"), "values are counted, expected magnitudes"),
    (TAU, "the share that is dropped", COUNT, "max(1, round((1 - keep) * len(u)))", "that is to be dropped"),
    (TAU, "perhaps nobody passes", COUNT, "round(keep * len(u))", "at least one number must pass"),
    (TAU, "cut off, not rounded", COUNT, "max(1, int(keep * len(u)))", "the count is cut off"),
    (
        TAU,
        "between two numbers",
        LAST,
        "return float(np.quantile(np.abs(u), 1 - keep))",
        "interpolated between two magnitudes",
    ),
    (TAU, "an empty vector breaks it", "if not len(u):", "if u is None:", "10% of 0 numbers: IndexError"),
    (TAU, "u is sorted in place", LAST, "u[:] = np.sort(np.abs(u))\n    return float(u[-count])", "changed: u"),
    (TAU, "all of them are not all", COUNT, "max(1, min(len(u) - 1, round(keep * len(u))))"),
    (
        MEMORY,
        "the rest is forgotten",
        REMEMBER,
        "self.unsaid = update.copy()",
        "the rest is forgotten",
    ),
    (MEMORY, "what was said stays unsaid", SAID, "pass", "what was said stays unsaid"),
    (MEMORY, "what was unsaid is added twice", REMEMBER, "self.unsaid = 2 * self.unsaid + update", "is added twice"),
    (
        MEMORY,
        "everything unsaid is forgotten once something is said",
        SAID,
        "self.unsaid[:] = 0",
        "all is forgotten once something is said",
    ),
    (
        MEMORY,
        "the choice looks at the update alone",
        "top_k(self.unsaid, self.k)",
        "top_k(update, self.k)",
        "the choice looks at the update alone",
    ),
    (
        MEMORY,
        "the update is used as memory",
        REMEMBER,
        "update += self.unsaid\n        self.unsaid = update",
        "Your input was changed: updates",
    ),
    (
        MEMORY,
        "what is sent is the update's own part",
        "top_k(self.unsaid, self.k)",
        "top_k(self.unsaid, self.k)\n        values = update[index]",
    ),
    (
        RING,
        "everybody adds in the order of coming",
        "for maker in range(n):",
        "for maker in packets:",
        "must add in the order of ranks, not of coming",
    ),
    (
        RING,
        "one step too few",
        LAP,
        "packets.update({m: (index[:0], values[:0]) for m in range(n) if m != r})\n    for t in range(n - 2):",
        "one step too few",
    ),
    (RING, "one step too many", LAP, "for t in range(n):", "N - 1 = 3 steps are enough"),
    (
        RING,
        "one's own packet again and again",
        SEND,
        "comm.send((r + 1) % n, (index, values))",
        "its own packet again and again",
    ),
    (
        RING,
        "the last one wins where places meet",
        "total[places] += numbers",
        "total[places] = numbers",
        "where places meet the last packet wins",
    ),
    (
        RING,
        "dense vectors travel",
        f"{SEND}\n        last = comm.recv((r - 1) % n)",
        "whole = np.zeros(size, values.dtype)\n        whole[last[0]] = last[1]\n"
        "        comm.send((r + 1) % n, whole)\n"
        "        whole = comm.recv((r - 1) % n)\n        last = (np.flatnonzero(whole), whole[whole != 0])",
        "Keep it sparse",
    ),
    (
        RING,
        "round the ring to the left",
        f"{SEND}\n        last = comm.recv((r - 1) % n)\n        packets[(r - t - 1) % n]",
        "comm.send((r - 1) % n, last)\n        last = comm.recv((r + 1) % n)\n        packets[(r + t + 1) % n]",
        "which is not its right neighbour",
    ),
    (RING, "the mean", "return total", "return total / values.dtype.type(n)", "the mean, expected the sum"),
    (RING, "single precision whatever comes", "np.zeros(size, values.dtype)", 'np.zeros(size, "f4")'),
]
