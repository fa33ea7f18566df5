"""A client's local round: epochs of mini-batch descent on its own rows, and what came of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dlmini.data import batches
from dlmini.federated.attacks import flipped


class Order(NamedTuple):
    """What the server asks of a client in round t. pull: FedProx's mu; drift: SCAFFOLD's c - c_i, or None.

    flip: a liar's own doing, not the server's: it learns from wrong labels (attacks.py).
    """

    t: int
    client: int
    pull: float = 0.0
    drift: np.ndarray | None = None
    flip: bool = False


class Answer(NamedTuple):
    """change: minus the steps, added up one by one as a worker of the training loop does: so FedAvg of equal shards is
    Local-SGD to the bit. steps of them were made, on `rows` rows. The server adds how stale it is, and `base`, the
    weights that it began with, where nobody waits.
    """

    client: int
    change: np.ndarray
    rows: int
    steps: int
    staleness: int = 0
    base: np.ndarray | None = None


def local_round(task, w: np.ndarray, order: Order, rows: np.ndarray, epochs: int, batch: int, rate: float, seed: int):
    """E epochs of plain SGD:  y -= rate (g(y) + pull (y - w) + drift).  batch 0: all rows at once.

    Batches depend on seed, client and epoch alone: the same as a worker of that rank would see.
    """
    y, grad, change, steps = w.copy(), np.zeros_like(w), np.zeros_like(w), 0
    size = min(batch, len(rows)) if batch else len(rows)
    for epoch in range(order.t * epochs, (order.t + 1) * epochs):
        for one in batches(task.train, size, seed=seed, rank=order.client, part=rows, epoch=epoch):
            if order.flip:
                one = one._replace(y=flipped(one.y, len(task.train.classes)))
            task.loss_and_grad(y, one, grad)
            if order.pull:
                grad += np.float32(order.pull) * (y - w)
            if order.drift is not None:
                grad += order.drift
            grad *= np.float32(rate)
            y -= grad
            change -= grad
            steps += 1
    return Answer(order.client, change, len(rows), steps)
