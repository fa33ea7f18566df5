"""Lesson 01: points in the plane, a small network, and descent with batches of any size.

E(w) = 1/n sum_i L(f(x_i, w), y_i)        w <- w - rate * gradient over a batch
batch = n: batch descent;   batch = 1: stochastic;   between: mini-batch
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from dlmini.data import Batch, Dataset, batches, blobs, spirals
from dlmini.lessons.timing import own_time
from dlmini.nn import Model, mlp

POINTS = 300


class Settings(NamedTuple):
    rate: float
    batch: int


class Look(NamedTuple):
    """The network after so many passes over the data."""

    passes: int
    updates: int
    seconds: float  # of computing, spent on updates
    loss: float  # over all points
    accuracy: float
    w: np.ndarray  # a copy


def points(name: str) -> Dataset:
    """The two sets of the lesson: three clouds, or two arms."""
    made = {"blobs": lambda: blobs(POINTS, spread=0.7), "spirals": lambda: spirals(POINTS, noise=0.03)}
    if name not in made:
        raise ValueError(f"there are no points called {name!r}; there are {', '.join(made)}")
    return made[name]()


def plane_net(data: Dataset, hidden: tuple[int, ...] = (24, 24), **options) -> Model:
    """Two numbers in, one score per class out."""
    return mlp(hidden, data.shape, len(data.classes), **options)


def descend(
    model: Model, data: Dataset, settings: Settings | Callable[[], Settings], passes: int, seed: int = 0
) -> Iterator[Look]:
    """A look before the first pass and after each. `settings` may change: a function is asked before every pass."""
    w, updates, seconds = model.initial(seed), 0, 0.0
    yield look(model, data, w, 0, 0, 0.0)
    for done in range(passes):
        rate, size = settings() if callable(settings) else settings
        began = own_time()
        updates += one_pass(model, batches(data, min(size, len(data)), seed=seed, epoch=done, reuse=True), w, rate)
        seconds += own_time() - began
        yield look(model, data, w, done + 1, updates, seconds)
        if not np.isfinite(w).all():
            return


def one_pass(model: Model, of: Iterable[Batch], w: np.ndarray, rate: float) -> int:
    """Step once per batch, in place; how many steps that were."""
    grad, steps = model.zeros(), 0
    with np.errstate(all="ignore"):  # a run that diverges is something to look at
        for x, y, _ in of:
            model.loss_and_grad(w, x, y, grad)
            w -= model.dtype.type(rate) * grad
            steps += 1
    return steps


def look(model: Model, data: Dataset, w: np.ndarray, passes: int, updates: int, seconds: float) -> Look:
    with np.errstate(all="ignore"):
        found = model.evaluate(w, data.x, data.y)
    return Look(passes, updates, seconds, found["loss"], found["accuracy"], w.copy())


def three_descents(data: Dataset, rate: float, passes: int, sizes=(POINTS, 20, 1)) -> dict[str, list[Look]]:
    """Batch, mini-batch and stochastic descent, from the same beginning and with the same learning rate."""
    words = {len(data): "batch", 1: "stochastic"}
    model = plane_net(data)
    return {
        f"{words.get(size, 'mini-batch')} ({size})": list(descend(model, data, Settings(rate, size), passes))
        for size in sizes
    }


def window(data: Dataset, margin: float = 0.15) -> tuple[float, float, float, float]:
    """Left, right, bottom, top of a square that has all points in it."""
    low, high = data.x.min(axis=0), data.x.max(axis=0)
    centre, half = (low + high) / 2, float((high - low).max()) / 2 * (1 + margin)
    return tuple(float(v) for v in (centre[0] - half, centre[0] + half, centre[1] - half, centre[1] + half))


def territory(model: Model, w: np.ndarray, extent: tuple[float, float, float, float], side: int = 60) -> np.ndarray:
    """How sure the network is of each class at each point of a grid, rows from the top: [side, side, classes]."""
    left, right, bottom, top = extent
    u, v = np.meshgrid(np.linspace(left, right, side), np.linspace(top, bottom, side))
    scores = model.predict(w, np.stack([u.ravel(), v.ravel()], axis=1).astype(model.dtype))
    return softmax(scores).reshape(side, side, -1)


def softmax(scores: np.ndarray) -> np.ndarray:
    """p_k = exp(s_k - m) / sum_j exp(s_j - m),  m = max_j s_j: shifting changes nothing but the overflow."""
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)
