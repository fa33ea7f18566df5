"""Lesson 07: Local-SGD. Bytes and accuracy by period, where it converges to, its bound, and an outer optimiser.

    learn alone for p steps, then average: w -= mean over workers of the change that each made
Stich, Local SGD converges fast and communicates little, 2019; Douillard et al., DiLoCo, 2023.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dlmini.comm.network import gigabit
from dlmini.data import split_iid
from dlmini.lessons.student_code import own
from dlmini.optim import SGD
from dlmini.outcome import Outcome
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim import Simulated
from dlmini.sync import LocalSGD

EXERCISE = "07_local_sgd"


# ---- two valleys ----


def kept(curvatures: Sequence[float], rate: float, period: int) -> np.ndarray:
    """What p local steps leave of each worker's distance to its own minimum: (1 - rate a)^p."""
    return (1 - rate * np.asarray(curvatures, float)) ** period


def rests_at(curvatures: Sequence[float], minima: Sequence[float], rate: float, period: int) -> float:
    """Where Local-SGD comes to rest if worker i descends a_i/2 (w - b_i)^2.

    A round is w <- mean of c_i w + (1 - c_i) b_i with c_i = (1 - rate a_i)^p, so that it rests at the mean of the
    minima weighted by 1 - c_i: by a_i, which is right, for small p; all alike for large.
    """
    moved = 1 - kept(curvatures, rate, period)
    return float(moved @ np.asarray(minima, float) / moved.sum())


def descent(curvatures, minima, rate: float, period: int, steps: int, start: float = 0.0) -> np.ndarray:
    """[steps + 1, workers]: every worker's weight, step by step; all meet in the mean after each `period` steps."""
    a, b, path = np.asarray(curvatures, float), np.asarray(minima, float), [np.full(len(minima), start)]
    for t in range(1, steps + 1):
        w = path[-1] - rate * a * (path[-1] - b)
        path.append(np.full(len(w), w.mean()) if t % period == 0 else w)
    return np.array(path)


def corrected_descent(curvatures, minima, rate: float, period: int, rounds: int, start: float = 0.0) -> np.ndarray:
    """The common weight after each round of SCAFFOLD: everybody takes away how its slope differs from the mean of all.

    y_i <- y_i - rate (g_i(y_i) - g_i(w) + mean_j g_j(w)), p times from the round's start w: where the mean slope is
    zero nobody moves, whatever p is. Karimireddy et al., 2020 (option I, all workers in every round).
    """
    a, b, path = np.asarray(curvatures, float), np.asarray(minima, float), [start]
    for _ in range(rounds):
        slopes, y = a * (path[-1] - b), np.full(len(b), path[-1])
        for _ in range(period):
            y = y - rate * (a * (y - b) - slopes + slopes.mean())
        path.append(float(y.mean()))
    return np.array(path)


# ---- the bound ----


def longest_period(steps: float, workers: float) -> float:
    """I <= T^(1/4) / N^(3/4): up to this period theory promises N-fold speed (Yu, Yang and Zhu, 2019)."""
    return steps**0.25 / workers**0.75


def steps_for(period: float, workers: float) -> float:
    """The other way round: so many steps the bound wants before it allows the period."""
    return period**4 * workers**3


# ---- networks ----


@dataclass(frozen=True)
class Row:
    """One training: what it knew in the end, and what it cost. seconds: virtual, on Gigabit Ethernet."""

    label: str
    period: int
    accuracy: float
    megabytes: float
    seconds: float


def learned(task, period: int, workers: int, epochs: float, rate: float, outer=None, variant="textbook") -> Outcome:
    """Local-SGD with all-reduce: the same number of steps whatever the period, if it divides them."""
    steps = task.steps(epochs, workers)
    recipe = Recipe(LocalSGD(period, variant), optimizer=SGD(rate), outer=outer, rounds=max(1, steps // period))
    return train(task, replace(recipe, all_workers=True), Simulated(workers, gigabit)).result()


def row(label: str, period: int, outcome: Outcome) -> Row:
    return Row(label, period, outcome.accuracy, outcome.nbytes / 1e6, outcome.seconds)


def by_period(
    task, periods: Sequence[int], workers: int, epochs: float, rate: float, split=split_iid, **how
) -> list[Row]:
    """A row for each period, with the data dealt out by `split`."""
    task = replace(task, split=split)
    return [row(f"p = {p}", p, learned(task, p, workers, epochs, rate, **how)) for p in periods]


# ---- a student's own ----


def nesterov(w, mean, velocity, rate: float, momentum: float):
    """The outer step of DiLoCo as a plain function: new weights, new velocity."""
    slope = w - mean
    ahead = slope + momentum * velocity
    return w - rate * slope - rate * momentum * ahead, ahead


def my_outer():
    """The student's outer_step, or the library's while it is not written; and whose it is."""
    return own(EXERCISE, "outer_step", otherwise=nesterov)


def outer_descent(
    step, curvatures, minima, rate, period, rounds, outer_rate, momentum, start: float = 0.0
) -> np.ndarray:
    """The common weight after each round if `step` acts on what p local steps have changed."""
    c, b = kept(curvatures, rate, period), np.asarray(minima, float)
    w, v, path = np.array([start]), np.zeros(1), [start]
    for _ in range(rounds):
        mean = np.array([np.mean(c * w + (1 - c) * b)])
        w, v = step(w, mean, v, outer_rate, momentum)
        path.append(float(w[0]))
    return np.array(path)
