"""The plain layers, each with its NumPy truth: the value, and right beneath it the derivative.

A layer is a description that remembers nothing: parameters, activations and gradients are handed to it.
`ops` is the set of functions to compute with: the ones written here and in conv.py, or their compiled twins.

    forward(ops, p, x, y, memo, mode)             y from x, parameters p; `memo` keeps what backward needs
    backward(ops, p, g, x, y, dy, dx, memo)       gradients g of the parameters, dx of the input (None: not wanted)

A layer that `defers` may be asked for the two one after another: with g None, and later with dx None. Then dy, y and
memo are as the first call has left them.

`backward` leaves dy as it is, unless the layer says that it `spoils` it.
"""

from dataclasses import dataclass
from math import prod, sqrt
from typing import ClassVar

import numpy as np

from dlmini.checks import piece, real, refuse, settle, whole


def dense_forward(x, w, b, y, relu=False):
    """y = x w + b, then ReLU if asked."""
    np.matmul(x, w, out=y)
    y += b
    if relu:
        np.maximum(y, 0, out=y)


def dense_backward(x, w, dy, dx, dw, db, gate=False):
    """dw = x^T dy;  db = sum of dy;  dx = dy w^T, kept only where x > 0 if `gate` (x came out of a ReLU).

    dw and db, or dx, may be None: not wanted.
    """
    if dw is not None:
        np.dot(x.T, dy, out=dw)
        np.sum(dy, axis=0, out=db)
    if dx is not None:
        np.dot(dy, w.T, out=dx)
        if gate:
            dx *= x > 0


def relu_forward(x, y):
    """y = max(x, 0)."""
    np.maximum(x, 0, out=y)


def relu_backward(y, dy, dx):
    """dx = dy where y > 0, else 0."""
    np.multiply(dy, y > 0, out=dx)


def tanh_forward(x, y):
    """y = tanh(x)."""
    np.tanh(x, out=y)


def tanh_backward(y, dy, dx):
    """dx = dy (1 - y^2)."""
    np.multiply(dy, 1 - y * y, out=dx)


def dropout_forward(x, y, mask, keep):
    """y = x / keep where the coin in `mask` fell below `keep`, else 0; `mask` becomes that factor."""
    mask[...] = (mask < keep) / mask.dtype.type(keep)
    np.multiply(x, mask, out=y)


def dropout_backward(dy, mask, dx):
    """dx = dy times the same factor."""
    np.multiply(dy, mask, out=dx)


class Layer:
    """What most layers have in common: no parameters, no memory, nothing random, output shaped like the input."""

    defers = False  # whether the gradients of its parameters can be asked for alone, and later than dx
    coins = 0  # how many streams of random numbers it, and what it holds, draws from while training
    looks = True  # whether backward reads y
    spoils = False  # whether backward overwrites dy

    def parameters(self, shape):
        """The shapes of its arrays, for inputs of `shape`."""
        return ()

    def begin(self, shape, arrays, key):
        """Write the first values of its arrays: all are zero until now; the random ones are keyed by `key`.

        Weights of variance 2 / inputs, zero biases. He et al., Delving deep into rectifiers, 2015.
        """
        if arrays:
            spread = sqrt(2 / prod(arrays[0].shape[:-1]))
            arrays[0][...] = np.random.default_rng(key).standard_normal(arrays[0].shape) * spread

    def output(self, shape):
        return shape

    def flops(self, shape):
        return prod(shape)

    def border(self, shape):
        """The (rows, columns) of zeros this layer wants around its input."""
        return 0, 0

    def memo(self, images, shape, arena):
        """What is kept between forward and backward: arrays of `arena` with a row per image, or a tuple of them.

        Anything else in it is handed over as it is.
        """

    def statistics(self, shape):
        """How many numbers predicting needs to know beside the weights (see BatchNorm)."""
        return 0

    def held(self, shape):
        """The layers that it holds: for each a name, the layer, and the shape that it gets."""
        return []


@dataclass(frozen=True)
class Dense(Layer):
    """Every output sees every input: y = x w + b. Parameters: inputs * units + units."""

    units: int
    defers: ClassVar = True
    looks: ClassVar = False

    def __post_init__(self):
        settle(self, units=whole(self.units, "units of Dense", 1))

    def parameters(self, shape):
        return (shape[0], self.units), (self.units,)

    def output(self, shape):
        if len(shape) != 1:
            raise ValueError(f"Dense({self.units}) needs a flat input, but gets {shape}; put Flatten() before it")
        return (self.units,)

    def flops(self, shape):
        return 2 * shape[0] * self.units

    def forward(self, ops, p, x, y, memo, mode):
        ops.dense_forward(x, *p, y)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        ops.dense_backward(x, p[0], dy, dx, *g or (None, None))


@dataclass(frozen=True)
class ReLU(Layer):
    """max(x, 0)."""

    def forward(self, ops, p, x, y, memo, mode):
        ops.relu_forward(x, y)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if dx is not None:
            ops.relu_backward(y, dy, dx)


@dataclass(frozen=True)
class Tanh(Layer):
    """tanh(x): between -1 and 1."""

    def forward(self, ops, p, x, y, memo, mode):
        ops.tanh_forward(x, y)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if dx is not None:
            ops.tanh_backward(y, dy, dx)


@dataclass(frozen=True)
class Flatten(Layer):
    """An image as one row of numbers: within a network the same memory, seen in another shape, and no work at all."""

    looks: ClassVar = False

    def output(self, shape):
        return (prod(shape),)

    def flops(self, shape):
        return 0

    def forward(self, ops, p, x, y, memo, mode):
        if not np.may_share_memory(x, y):
            y[...] = x.reshape(y.shape)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if dx is not None and not np.may_share_memory(dy, dx):
            dx[...] = dy.reshape(dx.shape)


@dataclass(frozen=True)
class Dropout(Layer):
    """Forget a share of the activations at random while training, and scale up the rest; does nothing when predicting.

        y = x * m / (1 - drop),  m = 1 with probability 1 - drop
    The coins come from a stream of their own, keyed by (seed, rank, step, layer), so a run can be repeated anywhere.
    Srivastava et al., Dropout, JMLR 2014.
    """

    drop: float = 0.5
    coins: ClassVar = 1
    looks: ClassVar = False

    def __post_init__(self):
        settle(self, drop=real(self.drop, "drop", least=0, below=1, hint="the share to forget"))

    def memo(self, images, shape, arena):
        return arena.kept(images, *shape)

    def forward(self, ops, p, x, y, memo, mode):
        coins = mode.coins()
        if coins is None:
            y[...] = x
            return
        coins.random(out=memo, dtype=memo.dtype)
        ops.dropout_forward(x, y, memo, 1 - self.drop)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if dx is not None:
            ops.dropout_backward(dy, memo, dx)


def layers_of(layers, name="layers", least=1) -> tuple:
    """A row of layers; a class among them is a forgotten pair of brackets."""
    if not isinstance(layers, list | tuple):
        refuse(TypeError, name, layers, "a list of layers, such as [Flatten(), Dense(10)]")
    if len(layers) < least:
        refuse(ValueError, name, layers, "a list of at least one layer")
    of = "" if name == "layers" else f" of {name}"
    each = ((one, f"layer {i}{of}") for i, one in enumerate(layers))
    return tuple(piece(one, called, ("output", "forward"), "such as Dense(10)") for one, called in each)
