"""Lesson 15: vertical federation against the joint model, in which all columns lie in one place."""

from __future__ import annotations

import numpy as np

from dlmini.comm.launch import launch
from dlmini.federated.vertical import aligned, first, vertical
from dlmini.sim import Simulated

WIDTH, RATE, CLASSES = 4, 0.3, 3


def people(seed: int = 0):
    """Two parties' names and columns, and the labels of the first party's people."""
    coin = np.random.default_rng([seed, 0, 0, 45])
    names = [[f"p{k}" for k in coin.permutation(80)[:n]] for n in (70, 60)]
    return names, [coin.normal(size=(70, 3)), coin.normal(size=(60, 5))], coin.integers(CLASSES, size=70)


def cut_and_joint(steps: int = 40, seed: int = 0) -> float:
    """The largest difference between the parties' weights and the joint model's, over the latter's largest."""
    names, columns, labels = people(seed)
    rows = aligned(names)
    known, y = [x[r] for x, r in zip(columns, rows, strict=True)], labels[rows[0]]
    coin = np.random.default_rng([seed, 0, 1, 45])
    batches = [coin.permutation(len(y))[:20] for _ in range(steps)]
    found = launch(vertical, Simulated(3), (known, y, CLASSES, WIDTH, RATE, batches, seed))
    wanted = joint(known, y, batches, seed)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(found, wanted, strict=True))


def joint(columns, y, batches, seed: int):
    """[B, A_1, A_2]: one process with all columns; the first layer has a block for each party."""
    B = first((2 * WIDTH, CLASSES), seed, 0)
    blocks = [first((x.shape[1], WIDTH), seed, k) for k, x in enumerate(columns, 1)]
    for rows in batches:
        h = np.tanh(np.concatenate([x[rows] @ A for x, A in zip(columns, blocks, strict=True)], axis=1))
        scores = np.exp(h @ B)
        slope = (scores / scores.sum(axis=1, keepdims=True) - np.eye(CLASSES)[y[rows]]) / len(rows)
        back = slope @ B.T * (1 - h**2)
        B = B - RATE * h.T @ slope
        parts = np.split(back, 2, axis=1)
        blocks = [A - RATE * x[rows].T @ part for A, x, part in zip(blocks, columns, parts, strict=True)]
    return [B, *blocks]
