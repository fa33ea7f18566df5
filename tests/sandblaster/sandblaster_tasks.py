"""Small tasks for Sandblaster, and the serial L-BFGS that it must equal."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dlmini import Classify, Dense, Model, Tanh, blobs, lbfgs


def smooth(rows=90, hidden=4, batch=16, dtype=np.float64, layers=1):
    """A network without corners."""
    train, test = blobs(rows, 3, 0.6, seed=1), blobs(60, 3, 0.6, seed=2)
    inner = [layer for _ in range(layers) for layer in (Dense(hidden), Tanh())]
    return Classify(Model([*inner, Dense(3)], train.shape, dtype=dtype), train, test, batch=batch)


def whole_batch(task, portions, seed=0):
    """loss_and_grad of all portions at once, in one process: independent of how Sandblaster adds them."""
    batches = [batch for p in range(portions) for batch in task.part(p, portions, seed)]

    def loss_and_grad(w, grad):
        losses, total, rows = 0.0, np.zeros_like(w), 0
        for batch in batches:
            losses += task.loss_and_grad(w, batch, grad) * len(batch.y)
            total += grad * len(batch.y)
            rows += len(batch.y)
        grad[:] = total / rows
        return losses / rows

    return loss_and_grad


def serial(task, portions, rounds, **options):
    return lbfgs(whole_batch(task, portions), task.initial(0), iterations=rounds, tolerance=0, **options)


class Rows(NamedTuple):
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Bowl:
    """Least squares on the first `used` of `size` weights: what the others are does not matter to the loss."""

    size: int = 12
    used: int = 6
    rows: int = 40
    batch: int = 4
    dtype: type = np.float64

    def _data(self):
        coin = np.random.default_rng(5)
        return coin.standard_normal((self.rows, self.used)) * np.arange(1, self.used + 1), coin.standard_normal(
            self.rows
        )

    def initial(self, seed=0):
        return np.zeros(self.size, self.dtype)

    def steps(self, epochs, workers):
        return max(1, round(epochs * self.rows / self.batch / workers))

    def batches(self, shard, of, seed, skip=0):
        x, y = self._data()
        while True:
            yield Rows(x[shard::of], y[shard::of])

    def loss_and_grad(self, w, batch, grad):
        off = batch.x @ w[: self.used] - batch.y
        grad[:] = 0
        grad[: self.used] = batch.x.T @ off / len(off)
        return float(off @ off / 2 / len(off))

    def evaluate(self, w):
        x, y = self._data()
        off = x @ w[: self.used] - y
        return {"loss": float(off @ off / 2 / len(off)), "accuracy": float("nan")}
