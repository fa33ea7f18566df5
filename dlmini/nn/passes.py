"""One pass through a network, forward and back, in memory of its own.

A pass belongs to one user at a time: a model lends them to its callers. It chooses between the plain layers and the
fused stages, keeps the tape, and remembers the views of the vectors it was given last.
"""

from itertools import accumulate
from types import SimpleNamespace

import numpy as np

from dlmini.nn import ops
from dlmini.nn.layers import Dropout
from dlmini.nn.tape import Tape


def functions(model):
    """What the model computes with: the library's functions, and its own pieces in the place of some."""
    chosen = ops.compiled() if model.kernels == "numba" else ops.plain()
    return SimpleNamespace(**vars(chosen) | model.pieces) if model.pieces else chosen


class Pass:
    """Runs the layers of `model` on a batch. What `forward` leaves is there until the next one: `backward` reads it."""

    def __init__(self, model):
        self.model, self.tape, self.known, self.ops = model, None, {}, functions(model)
        if model.kernels == "numba":
            from dlmini.nn.fuse import stages
            from dlmini.nn.kernels.memory import buffer

            self.stages, self.zeros = stages(model.layers), buffer
        else:
            self.stages, self.zeros = list(model.layers), self.plain_zeros
        self.numbers = list(accumulate(isinstance(stage, Dropout) for stage in self.stages))

    def plain_zeros(self, *shape, dtype=None):
        return np.zeros(shape, dtype or self.model.dtype)

    def views(self, name, vector):
        """The parameters of each stage, as views of a flat vector; remembered while the vector stays the same."""
        if self.known.get(name, (None,))[0] is not vector:
            parts = iter([part for part in self.model.views(vector) if part])
            self.known[name] = vector, [next(parts) if has else () for has in self.tape.owners]
        return self.known[name][1]

    def forward(self, w, x, key=None):
        """Run the network on a batch; `key` (training only) seeds its Dropout layers, each by its number."""
        if self.tape is None or self.tape.capacity < len(x):
            self.tape = Tape(self.stages, self.model.input, len(x), self.zeros)
            self.known.clear()
        self.steps = self.tape.load(x)
        for stage, number, p, step in zip(self.stages, self.numbers, self.views("w", w), self.steps, strict=True):
            x, y, _, _, memo = step
            stage.forward(self.ops, p, x, y, memo, None if key is None else (*key, number))
        return y

    def backward(self, w, grad):
        """Go back from the gradient of the scores, which the loss has written, to the gradient of every parameter."""
        parameters, gradients = self.views("w", w), self.views("grad", grad)
        for stage, p, g, step in zip(*map(reversed, (self.stages, parameters, gradients, self.steps)), strict=True):
            x, y, dy, dx, memo = step
            stage.backward(self.ops, p, g, x, y, dy, dx, memo)

    def loss_and_grad(self, w, x, y, grad, key, images):
        """The batch's share of a mean loss over `images` images, and its gradient."""
        scores = self.forward(w, x, key)
        loss = self.model.loss(self.ops, scores, y, self.steps[-1][2], images)
        self.backward(w, grad)
        return loss
