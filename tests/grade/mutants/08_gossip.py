"""Wrong answers to exercise 08: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

MATRIX, GAP, PARTNERS, STEP = "mixing_matrix", "spectral_gap", "partners", "gossip_step"
SHARE = "K[i, j] = K[j, i] = 1 / (1 + max(degree[i], degree[j]))"
REST = "return K + np.diag(1 - K.sum(axis=1))"
HEARD = "comm.recv(j) * x.dtype.type(K[r, j])"
SECOND = "sizes = np.sort(np.abs(np.linalg.eigvals(K)))"
RETURN = "return float(1 - sizes[-2]) if len(sizes) > 1 else 1.0"
DISTANCE = "s = 1 + t % (size // 2)"
BOTH = "sorted({(rank + s) % size, (rank - s) % size})"
OWN = "mixed = x * x.dtype.type(K[r, r])"

MUTANTS = [
    (MATRIX, "the smaller degree", SHARE, SHARE.replace("max(", "min("), "the smaller of both degrees"),
    (
        MATRIX,
        "every row by its own degree",
        SHARE,
        "K[i, j], K[j, i] = 1 / (1 + degree[i]), 1 / (1 + degree[j])",
        "plain means: whoever is heard by many counts for more",
    ),
    (
        MATRIX,
        "one direction only",
        SHARE,
        "K[i, j] = 1 / (1 + max(degree[i], degree[j]))",
        "only one direction of each edge",
    ),
    (MATRIX, "nothing is kept for oneself", REST, "return K", "the diagonal is empty"),
    (
        MATRIX,
        "workers without edges are forgotten",
        "minlength=size)",
        "minlength=0)\n    size = len(degree)",
        "5 workers and 2 edges: K: the array has shape (3, 3)",
    ),
    (
        MATRIX,
        "a graph without edges breaks it",
        "np.array(edges, int)",
        "np.array(edges)",
        "no edges at all: TypeError",
    ),
    (MATRIX, "one third whatever the graph", SHARE, "K[i, j] = K[j, i] = 1 / 3"),
    (MATRIX, "a worker does not count itself", SHARE, SHARE.replace("(1 + max", "(0 + max")),
    (
        GAP,
        "negative eigenvalues are thought small",
        SECOND,
        "sizes = np.sort(np.linalg.eigvals(K).real)",
        "your gap forgets the absolute value: the smallest eigenvalue is -0.9",
    ),
    (GAP, "the largest eigenvalue", "1 - sizes[-2]", "1 - sizes[-1]", "the largest eigenvalue belongs to the mean"),
    (GAP, "the eigenvalue itself", "float(1 - sizes[-2])", "float(sizes[-2])", "the second largest size itself"),
    (
        GAP,
        "every matrix is thought symmetric",
        SECOND,
        "sizes = np.sort(np.abs(np.linalg.eigvalsh(K)))",
        "every matrix is taken for a symmetric one",
    ),
    (
        GAP,
        "real parts of complex eigenvalues",
        SECOND,
        "sizes = np.sort(np.abs(np.linalg.eigvals(K).real))",
        "real parts are compared",
    ),
    (
        GAP,
        "a complex gap",
        f"{SECOND}\n    {RETURN}",
        "values = np.linalg.eigvals(K)\n    values = sorted(values, key=abs)\n"
        "    return 1 - np.sqrt(values[-2] ** 2) if len(values) > 1 else 1.0",
        "the gap is the complex number",
    ),
    (GAP, "one worker is not thought of", " if len(sizes) > 1 else 1.0", "", "one worker alone"),
    (GAP, "the smallest eigenvalue", "1 - sizes[-2]", "1 - sizes[0]"),
    (GAP, "groups that never talk are thought one", RETURN, RETURN.replace("sizes[-2])", "max(sizes[sizes < 0.999]))")),
    (
        PARTNERS,
        "the opposite worker is counted twice",
        BOTH,
        "sorted([(rank + s) % size, (rank - s) % size])",
        "both partners are the same rank",
    ),
    (PARTNERS, "distances from 0", DISTANCE, "s = t % (size // 2)", "distances begin with 0"),
    (PARTNERS, "never begins again", DISTANCE, "s = 1 + t", "the distance never begins again"),
    (PARTNERS, "one distance too few", "t % (size // 2)", "t % max(1, size // 2 - 1)", "one round too early"),
    (PARTNERS, "one distance too many", "t % (size // 2)", "t % (size // 2 + 1)", "one round too late"),
    (PARTNERS, "only to the right", BOTH, "[(rank + s) % size]", "only one of the two ways round"),
    (
        PARTNERS,
        "not sorted",
        BOTH,
        "list(dict.fromkeys([(rank + s) % size, (rank - s) % size]))",
        "not in ascending order",
    ),
    (PARTNERS, "a worker alone divides by 0", "if size == 1:", "if size == 0:", "a worker alone: ZeroDivisionError"),
    (PARTNERS, "two workers never meet", "if size == 1:", "if size <= 2:"),
    (STEP, "its input is changed", OWN, "mixed = x; mixed *= x.dtype.type(K[r, r])", "Your input was changed: x"),
    (
        STEP,
        "rows and columns exchanged",
        HEARD,
        HEARD.replace("K[r, j]", "K[j, r]"),
        "rows and columns have changed places",
    ),
    (
        STEP,
        "it sends to those whom it hears",
        "if K[j, r]:",
        "if K[r, j]:",
        "those who hear you are not those whom you hear",
    ),
    (STEP, "oneself is forgotten", OWN, "mixed = np.zeros_like(x)", "its own part K[r, r] x is forgotten"),
    (
        STEP,
        "everybody sends to everybody",
        """        if K[j, r]:
            comm.send(j, x)
    mixed""",
        """        comm.send(j, x)
    others = [j for j in others if K[r, j] or comm.recv(j) is None]
    mixed""",
        "which does not hear it",
    ),
    (STEP, "double precision whatever comes", "x * x.dtype.type(K[r, r])", 'x.astype("f8") * K[r, r]', "holds float64"),
    (STEP, "the share of oneself for all that are heard", HEARD, "comm.recv(j) * K[r, r]"),
]
