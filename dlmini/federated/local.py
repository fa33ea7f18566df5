"""A client's local round: epochs of mini-batch descent on its own rows, and what came of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dlmini.data import batches


class Order(NamedTuple):
    """What the server asks of a client in round t. pull: FedProx's mu; drift: SCAFFOLD's c - c_i, or None."""

    t: int
    client: int
    pull: float = 0.0
    drift: np.ndarray | None = None


class Answer(NamedTuple):
    """change = local weights - the weights it began with, after `steps` steps on `rows` rows."""

    client: int
    change: np.ndarray
    rows: int
    steps: int
    staleness: int = 0


def local_round(task, w: np.ndarray, order: Order, rows: np.ndarray, epochs: int, batch: int, rate: float, seed: int):
    """E epochs of plain SGD:  y -= rate (g(y) + pull (y - w) + drift).  batch 0: all rows at once.

    Batches depend on seed, client and epoch alone: the same as a worker of that rank would see.
    """
    y, grad, steps = w.copy(), np.zeros_like(w), 0
    size = min(batch, len(rows)) if batch else len(rows)
    for epoch in range(order.t * epochs, (order.t + 1) * epochs):
        for one in batches(task.train, size, seed=seed, rank=order.client, part=rows, epoch=epoch):
            task.loss_and_grad(y, one, grad)
            if order.pull:
                grad += np.float32(order.pull) * (y - w)
            if order.drift is not None:
                grad += order.drift
            grad *= np.float32(rate)
            y -= grad
            steps += 1
    return Answer(order.client, y - w, len(rows), steps)
