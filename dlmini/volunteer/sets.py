"""What every work knows by its words: a network of the zoo, and a set of data that every installation has."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from dlmini.data import blobs, load
from dlmini.nn import ZOO, CrossEntropy

SETS = ("mnist", "fashion-mnist", "blobs")


def pair(name: str) -> tuple:
    """Training and test set."""
    return (blobs(480, seed=1), blobs(120, seed=2)) if name == "blobs" else load(name)


class Known:
    """Of `model`, `data` and `seed` follow the data, the network and where it begins."""

    @cached_property
    def sets(self) -> tuple:
        return pair(self.data)

    @cached_property
    def network(self):
        rows = self.sets[0]
        return ZOO[self.model](input=rows.shape, classes=len(rows.classes), loss=CrossEntropy())

    @property
    def size(self) -> int:
        return self.network.size

    def initial(self) -> np.ndarray:
        return self.network.initial(self.seed)

    def accuracy(self, w: np.ndarray) -> float:
        test = self.sets[1]
        return float(self.network.evaluate(w, test.scaled().x, test.y)["accuracy"])
