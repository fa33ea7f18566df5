"""Honest hands: the same exercise 00 done in twenty ways, and handed in in all forms that people's programs write.

Each is (the name of a file, its bytes); all of them deserve full marks.
"""

import json

from strange_hand_ins import FILE, STEM, zipped

NUMPY = "import numpy as np\n"
SHARDS = {
    "one formula": "def shard(n, size, rank):\n    return rank * n // size, (rank + 1) * n // size\n",
    "loops": """
def shard(n, size, rank):
    lo = 0
    for r in range(rank):
        lo += n // size + (1 if r < n % size else 0)
    return lo, lo + n // size + (1 if rank < n % size else 0)
""",
    "NumPy scalars": """
def shard(n, size, rank):
    edges = np.arange(size + 1, dtype=np.int64) * n // size
    return edges[rank], edges[rank + 1]
""",
    "helpers, a list": """
def edge(n, size, r):
    return (r * n) // size

def shard(n, size, rank):
    return [edge(n, size, r) for r in (rank, rank + 1)]
""",
    "array_split, prints": """
def shard(n, size, rank):
    mine = np.array_split(np.arange(n), size)[rank]
    lo = sum(len(p) for p in np.array_split(np.arange(n), size)[:rank])
    print("Мои строки \\u2028", mine[:3], flush=True)
    return int(lo), int(lo + len(mine))
""",
}
LINES = {
    "vectorised": """
def fit_alpha_beta(sizes, seconds):
    A = np.stack([np.ones(len(sizes)), sizes.astype(np.float64)], axis=1)
    scale = A[:, 1].max()
    found = np.linalg.lstsq(A / [1, scale], seconds, rcond=None)[0]
    return found[0], found[1] / scale
""",
    "loops, float64 between": """
def fit_alpha_beta(sizes, seconds):
    n = len(sizes)
    mean_s = mean_t = np.float64(0)
    for s, t in zip(sizes, seconds):
        mean_s += np.float64(s) / n
        mean_t += np.float64(t) / n
    top = bottom = 0.0
    for s, t in zip(sizes, seconds):
        top += (float(s) - mean_s) * (float(t) - mean_t)
        bottom += (float(s) - mean_s) ** 2
    beta = top / bottom
    return mean_t - beta * mean_s, beta
""",
    "polyfit": """
def fit_alpha_beta(sizes, seconds):
    beta, alpha = np.polyfit(np.asarray(sizes, "f8"), seconds, 1)
    return np.float64(alpha), np.float64(beta)
""",
    "long doubles, an array": """
def mean(x):
    return x.sum() / x.size

def fit_alpha_beta(sizes, seconds):
    n, t = sizes.astype(np.longdouble), seconds.astype(np.longdouble)
    beta = mean((n - mean(n)) * (t - mean(t))) / mean((n - mean(n)) ** 2)
    return np.array([mean(t) - beta * mean(n), beta], np.float64)
""",
}
PINGS = {
    "two roles": """
def ping_pong(comm, payload, rounds):
    if comm.rank > 1:
        return None
    start = comm.now()
    for _ in range(rounds):
        if comm.rank == 0:
            comm.send(1, payload)
            comm.recv(1)
        else:
            comm.send(0, comm.recv(0))
    return (comm.now() - start) / (2 * rounds) if comm.rank == 0 else None
""",
    "mean of trips, prints": """
def trip(comm, payload):
    before = comm.now()
    comm.send(1, payload, tag=7)
    back = comm.recv(1, tag=7)
    print("back:", back.shape, comm.now() - before)
    return comm.now() - before

def ping_pong(comm, payload, rounds):
    if comm.rank == 0:
        return np.mean([trip(comm, payload) for _ in range(rounds)]) / 2
    for _ in range(rounds if comm.rank == 1 else 0):
        comm.send(0, comm.recv(0, tag=7), tag=7)
""",
}


def texts():
    """Twenty programs: every way of every function, none with the same neighbours."""
    shards, lines, pings = list(SHARDS.values()), list(LINES.values()), list(PINGS.values())
    return [NUMPY + shards[i % 5] + lines[i % 4] + pings[i // 4 % 2] for i in range(20)]


# ---- forms ----


def plain(text):
    return FILE, text.encode()


def marked(text):
    return FILE, b"\xef\xbb\xbf" + text.encode()


def windows(text):
    return FILE, text.replace("\n", "\r\n").encode()


def old_windows(text):
    return FILE, f"# -*- coding: cp1251 -*-\n# Работа студента: всё проверено\n{text}".encode("cp1251")


def two_bytes(text):
    return FILE, text.encode("utf-16")


def notebook(text):
    sources = ["%matplotlib inline\nimport matplotlib.pyplot as plt", *text.split("\n\n"), "plt.plot([1, 2])", "1 / 0"]
    sources[1:-2] = ["\n\n".join(sources[1:-2])]
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": s.splitlines(True)} for s in sources]
    return f"{STEM}.ipynb", json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def packed(text):
    return "work.zip", zipped([(f"Моя работа/{FILE}", text), ("Моя работа/notes.txt", "see inside")])


def own_name(text):
    return "my_solution.py", text.encode()


FORMS = [plain, marked, windows, old_windows, two_bytes, notebook, packed, own_name]


def hand_ins():
    """Twenty of (what it is, the name of a file, its bytes)."""
    forms = [FORMS[i % len(FORMS)] for i in range(20)]
    without_cp866 = [
        t.replace("\\u2028", "") if form is old_windows else t for t, form in zip(texts(), forms, strict=True)
    ]
    return [(form.__name__, *form(text)) for form, text in zip(forms, without_cp866, strict=True)]
