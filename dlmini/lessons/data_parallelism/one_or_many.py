"""Lesson 03: are N workers with a batch each one worker with the union of their batches?

In exact arithmetic yes, step by step, if the batches are equally large; in floating point up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dlmini.comm.launch import launch
from dlmini.data import Dataset
from dlmini.lessons.data_parallelism.workers import mean_of_all, worker
from dlmini.nn import Model
from dlmini.sim import Simulated

DEAL, NUMBERS = 301, 302  # purposes of random numbers
Batches = list[list[tuple[np.ndarray, np.ndarray]]]  # of each worker, one pair (x, y) for each step


def dealt(data: Dataset, workers: int, batch: int, steps: int, seed: int = 0) -> Batches:
    """Random batches for every worker and step; no row comes twice before all rows have come."""
    need = workers * batch * steps
    coin = np.random.default_rng([seed, workers, batch, DEAL])
    order = np.concatenate([coin.permutation(len(data)) for _ in range(-(-need // len(data)))])
    rows = order[:need].reshape(steps, workers, batch)
    return [[(data.x[rows[t, r]], data.y[rows[t, r]]) for t in range(steps)] for r in range(workers)]


def union(batches: Batches) -> Batches:
    """The same rows for a single worker: in each step all that the workers had between them."""
    return [[tuple(np.concatenate(part) for part in zip(*step, strict=True)) for step in zip(*batches, strict=True)]]


def paths(net, batches: Batches, rate: float, average: Callable = mean_of_all) -> list[list[np.ndarray]]:
    """Every worker's weights after each step."""
    return list(launch(worker, on=Simulated(len(batches)), args=(net, batches, rate, average)))


def apart(net, batches: Batches, rate: float, average: Callable = mean_of_all) -> np.ndarray:
    """How far worker 0 is from the single worker on the union, after each step, relative to the way that one made."""
    many, (one,) = paths(net, batches, rate, average)[0], paths(net, union(batches), rate)
    start = net.initial(seed=0)
    return np.array([np.linalg.norm(a - b) / np.linalg.norm(b - start) for a, b in zip(many, one, strict=True)])


def spread(found: list[list[np.ndarray]]) -> float:
    """The largest difference between any worker's weights and worker 0's, in any step."""
    return float(np.abs(np.array(found) - np.array(found[0])).max())


def losses(net: Model, data: Dataset, path: list[np.ndarray]) -> list[float]:
    """The loss over all of `data` along a path of weights; infinity where it is no number any more."""
    with np.errstate(all="ignore"):
        found = [net.loss_and_grad(w, data.x, data.y, net.zeros()) for w in path]
    return [loss if np.isfinite(loss) else np.inf for loss in found]


@dataclass(frozen=True)
class Line:
    """A linear fit, L(w) = mean of (x w - y)^2 / 2, that begins at zero.

    With whole numbers, batches of 2^k rows and a rate that is a power of two, nothing is rounded for some steps:
    every number is a whole one over a power of two, and has fewer than the 53 binary digits of float64.
    """

    size: int = 4

    def zeros(self) -> np.ndarray:
        return np.zeros(self.size)

    def initial(self, seed: int = 0) -> np.ndarray:
        return self.zeros()

    def loss_and_grad(self, w, x, y, grad) -> float:
        error = x @ w - y
        grad[:] = x.T @ error / len(x)
        return float(error @ error) / (2 * len(x))


def whole_numbers(workers: int = 4, batch: int = 8, steps: int = 3, seed: int = 0) -> Batches:
    """Batches for a Line, of whole numbers between -4 and 4."""
    coin = np.random.default_rng([seed, workers, batch, NUMBERS])
    drawn = coin.integers(-4, 5, (workers, steps, batch, 5)).astype(float)
    return [[(rows[:, :4], rows[:, 4]) for rows in steps_of_one] for steps_of_one in drawn]


class Shares(NamedTuple):
    """Two means over workers: how far each is from the gradient of all rows together, relative to its length."""

    plain: float
    weighted: float


def unequal(net: Model, data: Dataset, sizes: Sequence[int], seed: int = 0) -> Shares:
    """Workers with `sizes` rows each: 1/N sum g_i, and sum n_i g_i / sum n_i."""
    w, edges = net.initial(seed), np.cumsum([0, *sizes])

    def gradient(low, high):
        grad = net.zeros()
        net.loss_and_grad(w, data.x[low:high], data.y[low:high], grad)
        return grad.astype(np.float64)

    whole = gradient(0, edges[-1])
    each = np.array([gradient(a, b) for a, b in pairwise(edges)])
    means = each.mean(axis=0), np.average(each, axis=0, weights=sizes)
    return Shares(*(float(np.linalg.norm(m - whole) / np.linalg.norm(whole)) for m in means))
