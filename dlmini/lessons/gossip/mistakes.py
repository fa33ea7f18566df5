"""What well-known mistakes answer in exercise 08: a sentence for each, so that `check` can call it by its name."""

from __future__ import annotations

import numpy as np


def bad_matrices(case) -> dict:
    """What well-known mistakes make of a graph."""
    edges, size = case.args
    d = np.bincount(np.array(edges, int).reshape(-1), minlength=size)
    A, one_way = np.zeros((size, size)), np.zeros((size, size))
    for i, j in edges:
        A[i, j] = A[j, i] = 1
        one_way[i, j] = case.truth[i, j]
    rest = case.truth * A  # without the diagonal
    return {
        "rows by their own degree, plain means: whoever is heard by many counts for more": owned(A / (1 + d[:, None])),
        "every column by its own degree": owned(A / (1 + d)),
        "the smaller of both degrees, expected the larger": owned(A / (1 + np.minimum.outer(d, d))),
        "only one direction of each edge: both ends get the same share": owned(one_way),
        "the diagonal is empty, and rows do not sum to one: a worker keeps what it does not give away": rest,
        "1 / degree: the 1 + is missing, with which a worker counts itself": owned(
            A / np.maximum(1, np.maximum.outer(d, d))
        ),
    }


def owned(K: np.ndarray) -> np.ndarray:
    """Each row filled up to one on the diagonal."""
    return K + np.diag(1 - K.sum(axis=1))


def bad_gaps(K: np.ndarray) -> dict:
    """What well-known mistakes give."""
    values = np.linalg.eigvals(K)
    size, real = np.sort(np.abs(values)), np.sort(values.real)
    sign = f"your gap forgets the absolute value: the smallest eigenvalue is {real[0]:.2g}"
    second = {
        **({sign: 1 - real[-2:][0]} if real[0] < 0 else {}),
        "real parts are compared; a complex eigenvalue counts by its size": 1 - np.sort(np.abs(values.real))[-2:][0],
        "this is the second largest size itself, expected 1 minus it": size[-2:][0],
        "every matrix is taken for a symmetric one": 1 - np.sort(np.abs(np.linalg.eigvalsh(K)))[-2:][0],
    }
    first = "the largest eigenvalue belongs to the mean, which must not die: expected the second largest"
    return second | {first: 1 - size[-1], "the smallest eigenvalue, expected the second largest": 1 - size[0]}


def bad_partners(asked) -> dict:
    """What well-known mistakes answer."""
    half = asked[0][2] // 2

    def pairs(distance) -> list:
        ways = [(rank + distance(t), rank - distance(t), size) for rank, t, size in asked]
        return [sorted({up % size, down % size}) for up, down, size in ways]

    def right(t):
        return 1 + t % half

    return {
        "both partners are the same rank: at distance size / 2 both ways lead to one worker": [
            sorted(((r + right(t)) % n, (r - right(t)) % n)) for r, t, n in asked
        ],
        "distances begin with 0, which is the worker itself; expected 1": pairs(lambda t: t % half),
        f"the distance never begins again: after {half} rounds it is 1": pairs(lambda t: 1 + t),
        "the distance begins again one round too early": pairs(lambda t: 1 + t % max(1, half - 1)),
        "the distance begins again one round too late": pairs(lambda t: 1 + t % (half + 1)),
        "only one of the two ways round": [[(r + right(t)) % n] for r, t, n in asked],
        "partners are not in ascending order": [
            list(dict.fromkeys(((r + right(t)) % n, (r - right(t)) % n))) for r, t, n in asked
        ],
        "the worker itself is none of its partners": [
            sorted({r, (r + right(t)) % n, (r - right(t)) % n}) for r, t, n in asked
        ],
    }


def bad_mixtures(case) -> dict:
    """What well-known mistakes give, for each rank."""
    K, X = case.args[0][1], np.array([x for x, _ in case.args], "f8")
    heard = (K != 0).astype(float)
    return {
        "rows and columns have changed places: rank i hears rank j with the share K[i, j]": K.T @ X,
        "its own part K[r, r] x is forgotten": (K - np.diag(np.diag(K))) @ X,
        "the plain mean of all that are heard, expected their shares in K": heard @ X / heard.sum(axis=1)[:, None],
        "the plain sum of all that are heard, expected their shares in K": heard @ X,
    }
