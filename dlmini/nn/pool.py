"""Pooling in plain NumPy, alone and together with the convolution and ReLU before it."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from dlmini.checks import settle, whole, word
from dlmini.nn.conv import check_image, conv_forward, patches
from dlmini.nn.layers import Layer

DEAD = 4  # the pooling code of a window in which ReLU lets nothing through


def maxpool_forward(x, y, which, size=2, stride=2):
    """y = the largest value of each window;  which = its place there (row by row), the first if several are equal."""
    windows = patches(x, (size, size), stride)
    flat = windows.reshape(*windows.shape[:3], size * size, x.shape[3])
    which[...] = flat.argmax(axis=3)
    y[...] = flat.max(axis=3)


def maxpool_backward(dy, which, dx, size=2, stride=2):
    """The gradient goes to the place the maximum came from."""
    _, H, W, _ = dy.shape
    dx[...] = 0
    for place in range(size * size):
        a, c = divmod(place, size)
        dx[:, a : a + H * stride : stride, c : c + W * stride : stride] += dy * (which == place)


def avgpool_forward(x, y, size=2, stride=2):
    """y = the mean of each window."""
    y[...] = patches(x, (size, size), stride).mean(axis=(3, 4))


def avgpool_backward(dy, dx, size=2, stride=2):
    """Each cell of the window gets an equal share."""
    _, H, W, _ = dy.shape
    dx[...] = 0
    for a in range(size):
        for c in range(size):
            dx[:, a : a + H * stride : stride, c : c + W * stride : stride] += dy / (size * size)


def image_mean_forward(x, y):
    """y = the mean of each channel over the whole image."""
    y[...] = x.mean(axis=(1, 2), keepdims=True)


def image_mean_backward(dy, dx):
    """Every pixel gets an equal share."""
    dx[...] = dy / (dx.shape[1] * dx.shape[2])


def conv_pool_forward(x, w, b, y, which):
    """Convolution, ReLU and 2x2 max-pooling as one: which = 0..3, or DEAD where ReLU lets nothing through."""
    full = np.empty((len(x), x.shape[1] - w.shape[0] + 1, x.shape[2] - w.shape[1] + 1, w.shape[3]), y.dtype)
    conv_forward(x, w, b, full)
    maxpool_forward(full, y, which)
    np.maximum(y, 0, out=y)
    which[y == 0] = DEAD


def unpool(dy, which, dx):
    """The derivative of ReLU and 2x2 max-pooling together: dx is the gradient of the convolution's output."""
    maxpool_backward(dy, which, dx)


@dataclass(frozen=True)
class Pool(Layer):
    """What the two kinds of pooling share: windows of `size`, moved by `stride` (as far as they fit)."""

    size: int = 2
    stride: int | None = None
    looks: ClassVar = False

    def __post_init__(self):
        settle(self, size=whole(self.size, "size of the window", 1, 15))
        if self.stride is not None:
            settle(self, stride=whole(self.stride, "stride", 1))

    @property
    def step(self):
        return self.size if self.stride is None else self.stride

    def output(self, shape):
        check_image(self, shape)
        if min(shape[:2]) < self.size:
            raise ValueError(f"{self}: the window is larger than its input {shape}; drop this layer")
        return (*((s - self.size) // self.step + 1 for s in shape[:2]), shape[2])

    def flops(self, shape):
        rows, columns, channels = self.output(shape)
        return rows * columns * channels * self.size**2


@dataclass(frozen=True)
class MaxPool(Pool):
    """The largest value of each window."""

    def memo(self, images, shape, arena):
        return arena.kept(images, *self.output(shape), dtype=np.uint8)

    def forward(self, ops, p, x, y, memo, mode):
        ops.maxpool_forward(x, y, memo, self.size, self.step)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if dx is not None:
            ops.maxpool_backward(dy, memo, dx, self.size, self.step)


@dataclass(frozen=True)
class AvgPool(Pool):
    """The mean of each window, or with size="image" of the whole image, whatever its size: one pixel is left."""

    size: int | str = 2

    def __post_init__(self):
        if not isinstance(self.size, str):
            super().__post_init__()
        elif self.stride is not None or word(self.size, "size", ("image",), "or a number") != "image":
            raise ValueError(f"{self}: where the window is the whole image there is no stride; leave it out")

    def output(self, shape):
        if self.size != "image":
            return super().output(shape)
        check_image(self, shape)
        return 1, 1, shape[2]

    def flops(self, shape):
        return prod(shape) if self.size == "image" else super().flops(shape)

    def forward(self, ops, p, x, y, memo, mode):
        if self.size == "image":
            ops.image_mean_forward(x, y)
        else:
            ops.avgpool_forward(x, y, self.size, self.step)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if dx is None:
            return
        if self.size == "image":
            ops.image_mean_backward(dy, dx)
        else:
            ops.avgpool_backward(dy, dx, self.size, self.step)
