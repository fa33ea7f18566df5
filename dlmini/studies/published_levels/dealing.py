"""The document's task: all rows dealt out evenly and at random, anew in every epoch; the loss a sum over the batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice

import numpy as np

from dlmini.checks import settle, word
from dlmini.data import Batch
from dlmini.data.batching import Tray
from dlmini.studies.published_levels.readings import CHOICES
from dlmini.task import Classify

DEAL = 2**31 + 101  # the purpose of a shuffle


@dataclass(frozen=True)
class Dealt(Classify):
    """Of M rows a device of P gets n = M / B / P whole mini-batches in an epoch (section 3.3); what is left over, fewer
    than P (B + 1) rows, rests for this epoch.

        order = default_rng([seed, 0, epoch, DEAL]).permutation(M)      device i: batches i n, ..., i n + n - 1 of it
    """

    loss: str = "sum"

    def __post_init__(self):
        super().__post_init__()
        settle(self, loss=word(self.loss, "loss", CHOICES["loss"]))

    def per_epoch(self, workers: int) -> int:
        """Mini-batches of each device in an epoch."""
        found = len(self.train) // self.batch // workers
        if not found:
            raise ValueError(
                f"{len(self.train):,} rows are {len(self.train) // self.batch} mini-batches of {self.batch}, fewer "
                f"than {workers} workers: take fewer workers, smaller batches or more data"
            )
        return found

    def batches(self, shard: int, of: int, seed: int, skip: int = 0) -> Iterator[Batch]:
        epoch, left = divmod(skip, self.per_epoch(of))
        return islice(self._dealt(shard, of, seed, epoch), left, None)

    def _dealt(self, shard: int, of: int, seed: int, first: int) -> Iterator[Batch]:
        tray, n = Tray(self.train, self.batch), self.per_epoch(of)
        for epoch in count(first):
            order = np.random.default_rng([seed, 0, epoch, DEAL]).permutation(len(self.train))
            for index, start in enumerate(range(shard * n * self.batch, (shard + 1) * n * self.batch, self.batch)):
                yield Batch(*tray.fill(order[start : start + self.batch]), (seed, shard, epoch, index))

    def loss_and_grad(self, w, batch: Batch, grad, ready=None) -> float:
        """The loss is told as a mean, to be compared; the gradient is that of the sum, if the loss is one."""
        loss = super().loss_and_grad(w, batch, grad, ready)
        if self.loss == "sum":
            grad *= np.float32(len(batch.y))
        return loss
