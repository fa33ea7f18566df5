"""Wrong answers to exercise 10: (function, what is wrong, this of the solution, that in its place)."""

TOP, TAU, MEMORY, RING = "top_k", "adaptive_threshold", "error_feedback", "sparse_allreduce"
SORTED = 'np.sort(np.argsort(-np.abs(u), kind="stable")[:k]).astype(np.int32)'
LAST = "return float(np.sort(np.abs(u))[-count])"
COUNT = "max(1, round(keep * len(u)))"

MUTANTS = [
    (TOP, "the largest values, not magnitudes", SORTED, SORTED.replace("-np.abs(u)", "-u")),
    (TOP, "the places are not in order", SORTED, 'np.argsort(-np.abs(u), kind="stable")[:k].astype(np.int32)'),
    (
        TOP,
        "all that are as large as the k-th",
        SORTED,
        "np.flatnonzero(np.abs(u) >= np.sort(np.abs(u))[-k]).astype('i4')",
    ),
    (
        TOP,
        "of equal magnitudes the last win",
        SORTED,
        "np.sort(np.argsort(np.abs(u), kind='stable')[-k:]).astype(np.int32)",
    ),
    (TOP, "magnitudes are sent, signs are lost", "return index, u[index]", "return index, np.abs(u[index])"),
    (TAU, "one number too many", LAST, LAST.replace("-count", "-min(count + 1, len(u))")),
    (TAU, "values, not magnitudes", LAST, LAST.replace("np.abs(u)", "u")),
    (TAU, "the share that is dropped", COUNT, "max(1, round((1 - keep) * len(u)))"),
    (TAU, "perhaps nobody passes", COUNT, "int(keep * len(u))"),
    (TAU, "between two numbers", LAST, "return float(np.quantile(np.abs(u), 1 - keep))"),
    (MEMORY, "the rest is forgotten", "self.unsaid = self.unsaid + update", "self.unsaid = update.copy()"),
    (MEMORY, "what was said stays unsaid", "self.unsaid[index] -= values", "pass"),
    (
        MEMORY,
        "everything unsaid is forgotten once something is said",
        "self.unsaid[index] -= values",
        "self.unsaid[:] = 0",
    ),
    (MEMORY, "the choice looks at the update alone", "top_k(self.unsaid, self.k)", "top_k(update, self.k)"),
    (
        MEMORY,
        "the update is used as memory",
        "self.unsaid = self.unsaid + update",
        "update += self.unsaid\n        self.unsaid = update",
    ),
    (RING, "everybody adds in the order of coming", "for maker in range(n):", "for maker in packets:"),
    (RING, "one step too few", "for t in range(n - 1):", "for t in range(n - 2):"),
    (
        RING,
        "one's own packet again and again",
        "comm.send((r + 1) % n, last)",
        "comm.send((r + 1) % n, (index, values))",
    ),
    (RING, "the last one wins where places meet", "total[places] += numbers", "total[places] = numbers"),
    (
        RING,
        "dense vectors travel",
        "comm.send((r + 1) % n, last)\n        last = comm.recv((r - 1) % n)",
        "whole = np.zeros(size, values.dtype)\n        whole[last[0]] = last[1]\n"
        "        comm.send((r + 1) % n, whole)\n"
        "        whole = comm.recv((r - 1) % n)\n        last = (np.flatnonzero(whole), whole[whole != 0])",
    ),
]
