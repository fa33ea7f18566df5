"""Lesson 01: how noisy is the gradient of a batch, and which learning rate is too large?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dlmini.data import Dataset
from dlmini.nn import Dense, MeanSquares, Model

DRAWS = 102  # the purpose of random batches


class Noise(NamedTuple):
    """The squared distance of a batch's gradient from that of all data: expected, found, and found's standard error."""

    batch: int
    formula: float
    measured: float
    error: float


def gradient_noise(model: Model, data: Dataset, batch: int, draws: int, seed: int = 0) -> Noise:
    """E |g_B - g|^2 = s^2 / B * (n - B) / (n - 1),  s^2 the mean of |g_i - g|^2: rows drawn without replacement."""
    w, n = model.initial(seed), len(data)
    each = np.array([gradient(model, w, data, [i]) for i in range(n)])
    g = each.mean(axis=0)
    spread = ((each - g) ** 2).sum(axis=1).mean()
    coin = np.random.default_rng([seed, 0, batch, DRAWS])
    rows = (coin.choice(n, batch, replace=False) for _ in range(draws))
    found = np.array([((gradient(model, w, data, some) - g) ** 2).sum() for some in rows])
    return Noise(batch, spread / batch * (n - batch) / (n - 1), found.mean(), found.std() / np.sqrt(draws))


def gradient(model: Model, w: np.ndarray, data: Dataset, rows) -> np.ndarray:
    grad = model.zeros()
    model.loss_and_grad(w, data.x[rows], data.y[rows], grad)
    return grad.astype(np.float64)


def shards_apart(model: Model, data: Dataset, shards: int, seed: int = 0) -> float:
    """How far the mean of the gradients of equal shards is from the gradient of all data, relative to its length."""
    if len(data) % shards:
        raise ValueError(f"{len(data)} rows make no {shards} equal shards; choose a number that divides them")
    w = model.initial(seed)
    whole = gradient(model, w, data, np.arange(len(data)))
    parts = [gradient(model, w, data, rows) for rows in np.arange(len(data)).reshape(shards, -1)]
    return float(np.linalg.norm(np.mean(parts, axis=0) - whole) / np.linalg.norm(whole))


# ---- the rate that is too large ----


def line_fit(data: Dataset) -> tuple[Model, np.ndarray, np.ndarray]:
    """One dense layer with squared error: the loss is a bowl, L(w) = (w - w*)^T H (w - w*) / 2 + constant."""
    model = Model([Dense(1)], data.shape, MeanSquares(), dtype=np.float64)
    return model, data.x.astype(np.float64), data.y.astype(np.float64)[:, None]


def steepest_curvature(x: np.ndarray) -> float:
    """The largest eigenvalue of H = X^T X / n, X with a column of ones for the bias."""
    wide = np.hstack([x, np.ones((len(x), 1))])
    return float(np.linalg.eigvalsh(wide.T @ wide / len(x))[-1])


def grows(data: Dataset, rate: float, steps: int) -> bool:
    """Whether the loss is larger at the end of the descent than half-way, by more than rounding."""
    model, x, y = line_fit(data)
    w, grad, losses = model.initial(0), model.zeros(), []
    for _ in range(steps):
        losses.append(model.loss_and_grad(w, x, y, grad))
        w -= rate * grad
        if not np.isfinite(losses[-1]) or losses[-1] > 1e12:
            return True
    return losses[-1] > losses[steps // 2] * (1 + 1e-6)


def largest_stable_rate(data: Dataset, steps: int = 400, halvings: int = 14) -> float:
    """Between a rate that descends and one that does not, by halving the interval."""
    low, high = 0.0, 10.0
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (low, middle) if grows(data, middle, steps) else (middle, high)
    return (low + high) / 2
