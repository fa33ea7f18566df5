"""Lesson 03: how large a batch pays? The best step with B examples makes the share 1 / (1 + B_noise / B) of the
progress of the best step with all data.

    E[L(w) - L(w - eta g_B)] = eta |g|^2 - eta^2/2 l (|g|^2 + tr(S)/B)          curvature l in all directions
    best eta = 1/l * 1 / (1 + B_noise/B),     B_noise = tr(S) / |g|^2            S: covariance of one example's gradient
McCandlish, Kaplan, Amodei et al., An empirical model of large-batch training, 2018.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dlmini.data import Dataset
from dlmini.lessons.backpropagation.batches import gradient
from dlmini.nn import Model

DRAWS = 304  # the purpose of random batches


def noise_scale(net: Model, w: np.ndarray, data: Dataset) -> float:
    """B_noise of a network at w, estimated from the gradients of single rows; infinity if all of it is noise."""
    each = np.array([gradient(net, w, data, [i]) for i in range(len(data))])
    noise = each.var(axis=0, ddof=1).sum()
    signal = (each.mean(axis=0) ** 2).sum() - noise / len(data)  # the mean's own noise is no signal
    return float(noise / signal) if signal > 0 else np.inf


class Gain(NamedTuple):
    """The best step with a batch, as a share of the best with all data: expected, found, found's standard error."""

    scale: float
    formula: float
    measured: float
    error: float


def best_step(x: np.ndarray, left: float, batch: int, draws: int, seed: int = 0) -> Gain:
    """Learn the mean of rows x, L(w) = mean of |w - x|^2 / 2, with the share `left` of the way from 0 still to go."""
    mean = x.mean(axis=0)
    g, noise = -left * mean, ((x - mean) ** 2).sum() / len(x)
    scale = noise / (g @ g)
    rate = 1 / (1 + scale / batch)
    rows = np.random.default_rng([seed, 0, batch, DRAWS]).integers(0, len(x), (draws, batch))
    steps = np.array([g + mean - x[some].mean(axis=0) for some in rows])  # gradients of batches
    found = (rate * steps @ g - rate**2 / 2 * (steps**2).sum(axis=1)) / (g @ g / 2)
    return Gain(float(scale), rate, float(found.mean()), float(found.std() / np.sqrt(draws)))
