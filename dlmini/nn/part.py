"""A part of a network: some of its layers, with their own slice of its vector. A stage of a pipeline is made of it."""

from math import prod

import numpy as np

from dlmini.nn.model import Model
from dlmini.nn.modes import Training
from dlmini.nn.passes import Pass
from dlmini.nn.threads import one_blas_thread


class Part(Model):
    """Layers a to b - 1 of `whole`, a model of its own: the numbers [low, high) of the whole vector are its vector.

        one = part.enter()                           memory for one batch; take one for each that is under way
        y = one.forward(w, x, part.mode(key))        w: the part's own vector
        dx = one.backward(w, grad, dy)               grad is overwritten; dx is None for the first layers
    The same bits as those layers give within the whole network, whose coins (Dropout) they draw, too.
    """

    def __init__(self, whole: Model, a: int, b: int):
        super().__init__(whole.layers[a:b], whole.shapes[a], whole.loss, dtype=whole.dtype, kernels=whole.kernels)
        self.above, self.pieces = whole.above + a, whole.pieces
        self.first, self.last = a == 0, b == len(whole.layers)
        self.drawn = sum(layer.coins for layer in whole.layers[:a])
        self.low = sum(prod(shape) for part in whole.parts[:a] for shape in part)
        self.high = self.low + self.size

    def enter(self, defer: bool = False) -> Pass:
        """A pass for one batch; it goes back to the gradient of what came in, unless that is the network's own input.

        defer: the gradients of weights may be asked for later than that.
        """
        one_blas_thread()
        return Pass(self, inputs=not self.first, defer=defer)

    def cut(self, whole: np.ndarray) -> np.ndarray:
        """What a rank that holds this part holds of the part's vector: all of it."""
        return whole

    def paste(self, own: np.ndarray, whole: np.ndarray) -> None:
        whole[...] = own

    def mode(self, key) -> Training:
        return Training(key, self.drawn)
