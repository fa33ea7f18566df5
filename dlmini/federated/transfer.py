"""Federated transfer: the trunk of a network that learned elsewhere stays as it is; clients learn the head alone.

    task = HeadOnly(task, trunk=3, weights=w)
A wrapper of a task: gradients of the first `trunk` layers are zero, and the weights begin as those given. Only the head
changes, so only the head need travel: `task.travels` numbers of `task.size`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np

from dlmini.checks import array, piece, settle, whole


@dataclass(frozen=True)
class HeadOnly:
    task: object
    trunk: int
    weights: np.ndarray = field(repr=False)

    def __post_init__(self):
        piece(self.task, "task", ("loss_and_grad", "model", "evaluate"), "a task, such as Classify(...)")
        settle(self, trunk=whole(self.trunk, "trunk", 0, len(self.task.model.layers), hint="layers that stay"))
        if array(self.weights, "weights", "those of the trained network").shape != (self.task.size,):
            raise ValueError(f"weights has shape {self.weights.shape}; this network has {self.task.size} numbers")

    def __getattr__(self, name):
        if name.startswith("_") or name == "task":
            raise AttributeError(name)
        return getattr(self.task, name)

    @property
    def frozen(self) -> int:
        """Numbers of the trunk: the first of the vector."""
        return sum(prod(shape) for part in self.task.model.parts[: self.trunk] for shape in part)

    @property
    def travels(self) -> int:
        return self.task.size - self.frozen

    def initial(self, seed: int = 0) -> np.ndarray:
        """The trunk as it was learned, a new head."""
        w = self.task.initial(seed)
        w[: self.frozen] = self.weights[: self.frozen]
        return w

    def loss_and_grad(self, w, batch, grad, ready=None):
        loss = self.task.loss_and_grad(w, batch, grad)
        grad[: self.frozen] = 0
        return loss
