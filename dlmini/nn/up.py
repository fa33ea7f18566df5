"""The way back up after pooling: a transposed convolution, in plain NumPy."""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

import numpy as np

from dlmini.checks import settle, whole
from dlmini.nn.conv import check_image
from dlmini.nn.layers import Layer


def up_forward(x, w, b, y):
    """y[n, s i + a, s j + c, o] = b[o] + sum_k x[n, i, j, k] w[a, c, k, o]: a pixel becomes s x s. w [s, s, Ci, Co]."""
    size = len(w)
    for a in range(size):
        for c in range(size):
            y[:, a::size, c::size] = x @ w[a, c] + b


def up_backward(x, w, dy, dx, dw, db, gate=False):
    """dw[a, c] = sum of x times the pixels it made there;  db = sum of dy;  dx = those pixels back along their weights.

    With `gate` dx (None: not wanted) is kept only where the input is positive (it came out of a ReLU).
    """
    size = len(w)
    db[...] = dy.sum(axis=(0, 1, 2))
    back = np.zeros_like(x)
    for a in range(size):
        for c in range(size):
            part = dy[:, a::size, c::size]
            dw[a, c] = np.tensordot(x, part, ((0, 1, 2), (0, 1, 2)))
            back += part @ w[a, c].T
    if dx is not None:
        dx[...] = back * (x > 0) if gate else back


@dataclass(frozen=True)
class Up(Layer):
    """An image `size` times as large: a transposed convolution whose windows do not overlap.

    The adjoint of a convolution with kernel and stride `size`: its forward is that one's gradient of the input.
    Parameters: size * size * Ci * Co + Co. Cost: 2 Ci Co operations for each output pixel.
    Zeiler et al., Deconvolutional networks, 2010.
    """

    channels: int
    size: int = 2
    looks: ClassVar = False

    def __post_init__(self):
        settle(self, channels=whole(self.channels, "channels", 1), size=whole(self.size, "size", 1, 15))

    def parameters(self, shape):
        return (self.size, self.size, shape[2], self.channels), (self.channels,)

    def begin(self, shape, arrays, key):
        """As elsewhere, but an output pixel sees one input pixel only."""
        w = arrays[0]
        w[...] = np.random.default_rng(key).standard_normal(w.shape) * sqrt(2 / w.shape[2])

    def output(self, shape):
        check_image(self, shape)
        return shape[0] * self.size, shape[1] * self.size, self.channels

    def flops(self, shape):
        rows, columns, channels = self.output(shape)
        return 2 * rows * columns * shape[2] * channels

    def forward(self, ops, p, x, y, memo, mode):
        ops.up_forward(x, *p, y)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        ops.up_backward(x, p[0], dy, dx, *g)
