"""Convolution in plain NumPy: the readable truth that the kernels are measured against.

Images are NHWC. An image that a convolution reads carries its zero border with it; an array that it writes has none. So
every convolution here is a *valid* one, and padding is a matter of memory. Beneath the value stands its derivative.
Nothing here is float32 only: gradients are checked in float64.

What is zero here is zero in the compiled twin: a result that sees only zeros is exactly the bias, and a gradient that
meets only zeros is exactly 0. Elsewhere twins agree to 5e-5 of the largest number; a ReLU or a maximum that is decided
by less may be decided otherwise, and a filter's gradient that is lost in rounding is given as 0.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dlmini.checks import settle, whole, word
from dlmini.nn.layers import Layer


def interior(image, border):
    """The image without its border of (rows, columns) on each side."""
    rows, columns = border
    return image[:, rows : image.shape[1] - rows, columns : image.shape[2] - columns]


def patches(x, kernel, stride):
    """Every window that the filter sees: [N, H, W, KH, KW, C]."""
    windows = sliding_window_view(x, kernel, axis=(1, 2))[:, ::stride, ::stride]
    return windows.transpose(0, 1, 2, 4, 5, 3)


def conv_forward(x, w, b, y, stride=1, relu=False):
    """y[n,i,j,o] = b[o] + sum_{a,c,k} x[n, i s + a, j s + c, k] w[a,c,k,o], then ReLU if asked. w: [KH, KW, Ci, Co]."""
    y[...] = np.tensordot(patches(x, w.shape[:2], stride), w, 3) + b
    if relu:
        np.maximum(y, 0, out=y)


def conv_backward(x, w, dy, dx, dw, db, stride=1, padding=(0, 0), gate=False):
    """dw = sum over n,i,j of patch times dy;  db = sum of dy;  dx: each dy goes back along the weights it came through.

    dx is the gradient of the input without its border; with `gate` it is kept only where the input is positive (it came
    out of a ReLU). dw and db, or dx, may be None: not wanted.
    """
    if dw is not None:
        dw[...] = np.tensordot(patches(x, w.shape[:2], stride), dy, ((0, 1, 2), (0, 1, 2)))
        db[...] = dy.sum(axis=(0, 1, 2))
    if dx is None:
        return
    bordered, (_, H, W, _) = np.zeros_like(x), dy.shape
    for a in range(w.shape[0]):
        for c in range(w.shape[1]):
            bordered[:, a : a + H * stride : stride, c : c + W * stride : stride] += dy @ w[a, c].T
    dx[...] = interior(bordered, padding)
    if gate:
        dx *= interior(x, padding) > 0


def pair(x, name, least):
    """A whole number, or a pair (rows, columns) of them, as Python's own."""
    hint = "one number, or a pair (rows, columns)"
    if isinstance(x, tuple | list) and len(x) == 2:
        return tuple(whole(k, name, least, hint=hint) for k in x)
    return whole(x, name, least, hint=hint)


def both(x):
    return x if isinstance(x, tuple) else (x, x)


@dataclass(frozen=True)
class Conv2d(Layer):
    """A filter slid over the image: y = x * w + b.

    Parameters: KH * KW * Ci * Co + Co. Cost: 2 KH KW Ci Co operations for each output pixel.
    padding: "valid" (none), "same" (kernel // 2, so that stride 1 keeps the size), a number or a pair.
    """

    channels: int
    kernel: int | tuple[int, int] = 3
    stride: int = 1
    padding: int | tuple[int, int] | str = "valid"
    defers: ClassVar = True
    looks: ClassVar = False

    def __post_init__(self):
        settle(self, channels=whole(self.channels, "channels", 1), stride=whole(self.stride, "stride", 1))
        settle(self, kernel=pair(self.kernel, "kernel", 1))
        if isinstance(self.padding, str):
            word(self.padding, "padding", ("valid", "same"), "or a number, or a pair (rows, columns)")
        else:
            settle(self, padding=pair(self.padding, "padding", 0))
        if self.padding == "same" and not all(k % 2 for k in self.window):
            raise ValueError(f"{self}: padding 'same' needs an odd kernel; give the padding as a number instead")

    @property
    def window(self):
        return both(self.kernel)

    def border(self, shape):
        if self.padding == "same":
            return tuple(k // 2 for k in self.window)
        return (0, 0) if self.padding == "valid" else both(self.padding)

    def parameters(self, shape):
        return (*self.window, shape[2], self.channels), (self.channels,)

    def output(self, shape):
        check_image(self, shape)
        sides = [s + 2 * p - k for s, p, k in zip(shape, self.border(shape), self.window, strict=False)]
        if min(sides) < 0:
            raise ValueError(
                f"{self}: the kernel is larger than its input {shape}; add padding or drop a pooling layer"
            )
        return (*(s // self.stride + 1 for s in sides), self.channels)

    def flops(self, shape):
        rows, columns, _ = self.output(shape)
        return 2 * rows * columns * self.window[0] * self.window[1] * shape[2] * self.channels

    def forward(self, ops, p, x, y, memo, mode):
        ops.conv_forward(x, *p, y, self.stride)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        ops.conv_backward(x, p[0], dy, dx, *g or (None, None), self.stride, self.border(None))


def check_image(layer, shape):
    if len(shape) != 3:
        raise ValueError(f"{layer} needs images (height, width, channels), but gets {shape}; put it before Flatten()")
