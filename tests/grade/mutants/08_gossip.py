"""Wrong answers to exercise 08: (function, what is wrong, this of the solution, that in its place)."""

MATRIX, GAP, PARTNERS, STEP = "mixing_matrix", "spectral_gap", "partners", "gossip_step"
SHARE = "K[i, j] = K[j, i] = 1 / (1 + max(degree[i], degree[j]))"
REST = "return K + np.diag(1 - K.sum(axis=1))"
HEARD = "comm.recv(j) * x.dtype.type(K[r, j])"
SECOND = "sizes = np.sort(np.abs(np.linalg.eigvals(K)))"

MUTANTS = [
    (MATRIX, "the smaller degree", SHARE, SHARE.replace("max(", "min(")),
    (MATRIX, "every row by its own degree", SHARE, "K[i, j], K[j, i] = 1 / (1 + degree[i]), 1 / (1 + degree[j])"),
    (MATRIX, "one direction only", SHARE, "K[i, j] = 1 / (1 + max(degree[i], degree[j]))"),
    (MATRIX, "nothing is kept for oneself", REST, "return K"),
    (MATRIX, "one third whatever the graph", SHARE, "K[i, j] = K[j, i] = 1 / 3"),
    (MATRIX, "workers without edges are forgotten", "minlength=size)", "minlength=0)\n    size = len(degree)"),
    (GAP, "negative eigenvalues are thought small", SECOND, "sizes = np.sort(np.linalg.eigvals(K).real)"),
    (GAP, "the largest eigenvalue", "1 - sizes[-2]", "1 - sizes[-1]"),
    (GAP, "the smallest eigenvalue", "1 - sizes[-2]", "1 - sizes[0]"),
    (GAP, "the eigenvalue itself", "float(1 - sizes[-2])", "float(sizes[-2])"),
    (GAP, "every matrix is thought symmetric", SECOND, "sizes = np.sort(np.abs(np.linalg.eigvalsh(K)))"),
    (GAP, "one worker is not thought of", " if len(sizes) > 1 else 1.0", ""),
    (
        PARTNERS,
        "the opposite worker is counted twice",
        "sorted({(rank + s) % size, (rank - s) % size})",
        "sorted([(rank + s) % size, (rank - s) % size])",
    ),
    (PARTNERS, "distances from 0", "s = 1 + t % (size // 2)", "s = t % (size // 2)"),
    (PARTNERS, "never begins again", "s = 1 + t % (size // 2)", "s = 1 + t"),
    (PARTNERS, "one distance too few", "t % (size // 2)", "t % max(1, size // 2 - 1)"),
    (PARTNERS, "only to the right", "sorted({(rank + s) % size, (rank - s) % size})", "[(rank + s) % size]"),
    (STEP, "its input is changed", "mixed = x * x.dtype.type(K[r, r])", "mixed = x; mixed *= x.dtype.type(K[r, r])"),
    (
        STEP,
        "rows and columns exchanged",
        HEARD,
        HEARD.replace("K[r, j]", "K[j, r]"),
    ),
    (STEP, "the plain mean of all that are heard", HEARD, "comm.recv(j) * K[r, r]"),
    (STEP, "oneself is forgotten", "mixed = x * x.dtype.type(K[r, r])", "mixed = np.zeros_like(x)"),
    (
        STEP,
        "everybody sends to everybody",
        """        if K[j, r]:
            comm.send(j, x)
    mixed""",
        """        comm.send(j, x)
    others = [j for j in others if K[r, j] or comm.recv(j) is None]
    mixed""",
    ),
    (STEP, "double precision whatever comes", "x * x.dtype.type(K[r, r])", 'x.astype("f8") * K[r, r]'),
]
