"""Vertical federation: parties know different columns of the same rows; one of them knows the labels.

Each party p turns its columns into an embedding, h_p = tanh(x_p A_p); the label owner (rank 0) concatenates them, and
learns  scores = [h_1 ... h_P] B.  It returns to each party the slice of the gradient that belongs to its embedding, and
nobody sees another's columns. The result equals that of the joint model exactly: the chain rule, cut along the columns.
Traffic of a batch: 2 B (sum of embedding widths) numbers. Rows must be aligned before: row i is the same person
everywhere (`aligned`). Liu et al., Vertical federated learning, 2022.
"""

from __future__ import annotations

import numpy as np

START = 23  # purpose of random numbers: first weights


def aligned(names: list[list]) -> list[np.ndarray]:
    """Entity alignment: for each party the row numbers of those whom all know, in one common order.

    A name that a party has twice is refused: whose row would it be? Cost: linear in the number of names.
    """
    if not names:
        raise ValueError("there are no parties to align; give a list of names for each")
    rows = [{name: k for k, name in enumerate(party)} for party in names]
    for number, (party, known) in enumerate(zip(names, rows, strict=True)):
        if len(known) < len(party):
            raise ValueError(f"party {number} has {len(party) - len(known)} names more than once; each is one row")
    common = sorted(set(rows[0]).intersection(*rows[1:]))
    return [np.array([known[name] for name in common], int) for known in rows]


def first(shape, seed: int, party: int) -> np.ndarray:
    return np.random.default_rng([seed, party, 0, START]).normal(0, shape[0] ** -0.5, shape)


def vertical(comm, columns, labels, classes: int, width: int, rate: float, batches, seed: int = 0):
    """The program. columns[p - 1]: what rank p knows; rank 0 owns the labels. Returns a rank's own weights.

    batches: arrays of row numbers, the same for all.
    """
    agree(columns, labels, comm.size)
    if comm.rank == 0:
        return label_owner(comm, labels, first((width * (comm.size - 1), classes), seed, 0), width, rate, batches)
    x = columns[comm.rank - 1]
    A = first((x.shape[1], width), seed, comm.rank)
    for rows in batches:
        h = np.tanh(x[rows] @ A)
        comm.send(0, h)
        dh = comm.recv(0)
        A -= rate * (x[rows].T @ (dh * (1 - h * h)))
    return A


def agree(columns, labels, size: int) -> None:
    """Everybody finds the same mistake, before anybody waits for a message."""
    if len(columns) != size - 1:
        raise ValueError(f"{len(columns)} parties have columns, and {size} ranks are one label owner and {size - 1}")
    for number, x in enumerate(columns, 1):
        if np.ndim(x) != 2 or len(x) != len(labels):
            raise ValueError(
                f"party {number} knows {len(x)} rows in {np.ndim(x)} dimensions, and there are {len(labels)} labels; "
                "give each a matrix of aligned rows (`aligned`)"
            )


def label_owner(comm, labels, B, width: int, rate: float, batches):
    for rows in batches:
        h = np.concatenate([comm.recv(party) for party in range(1, comm.size)], axis=1)
        scores = h @ B
        p = np.exp(scores - scores.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        p[np.arange(len(rows)), labels[rows]] -= 1
        p /= len(rows)
        dh = p @ B.T
        for party in range(1, comm.size):
            comm.send(party, np.ascontiguousarray(dh[:, (party - 1) * width : party * width]))
        B -= rate * (h.T @ p)
    return B
