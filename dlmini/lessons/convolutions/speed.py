"""Lesson 02: one convolution, written in several ways, timed side by side; and what each must move through memory.

Seconds belong to this machine at this moment, and nothing is graded by them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dlmini.lessons.convolutions import kernels
from dlmini.lessons.timing import median_seconds, seconds
from dlmini.nn import conv, ops
from dlmini.nn.kernels import direct
from dlmini.nn.kernels.convolution import roomy
from dlmini.nn.kernels.tile import BIAS
from dlmini.nn.threads import one_blas_thread

SQUARES = (96, 128, 192, 256, 512)  # sides of the matrices by which the machine's peak is measured


class Layer(NamedTuple):
    """A convolution to be timed: [images, side, side, inputs] by a kernel x kernel filter to `outputs` channels."""

    images: int = 50
    side: int = 12
    kernel: int = 5
    inputs: int = 16
    outputs: int = 32

    @property
    def result(self) -> int:
        """The side of what comes out."""
        return self.side - self.kernel + 1

    @property
    def flops(self) -> float:
        """Operations for one image: a multiplication and an addition per tap, channel in, channel out and pixel."""
        return 2.0 * self.result**2 * self.kernel**2 * self.inputs * self.outputs

    @property
    def least_bytes(self) -> float:
        """What must pass through memory for one image at least: x in, y out, and a share of w."""
        filters = self.kernel**2 * self.inputs * self.outputs / self.images
        return 4.0 * (self.side**2 * self.inputs + self.result**2 * self.outputs + filters)

    @property
    def patch_bytes(self) -> float:
        """The matrix of im2col for one image: every window, written out."""
        return 4.0 * self.result**2 * self.kernel**2 * self.inputs

    @property
    def im2col_bytes(self) -> float:
        """The same with im2col: the patches are written once and read once."""
        return self.least_bytes + 2 * self.patch_bytes

    def arrays(self, seed: int = 0):
        """x, w, b and room for y."""
        draw = np.random.default_rng([seed, 2])
        x = draw.standard_normal((self.images, self.side, self.side, self.inputs)).astype(np.float32)
        w = draw.standard_normal((self.kernel, self.kernel, self.inputs, self.outputs)).astype(np.float32)
        y = np.empty((self.images, self.result, self.result, self.outputs), np.float32)
        return x, w, np.zeros(self.outputs, np.float32), y


class Speed(NamedTuple):
    """How many operations a second one way of computing does, counted as if it did them all."""

    label: str
    gflops: float


def im2col(x, w, b, y):
    """Write out every window as a row of a matrix; then the convolution is one matrix product."""
    y[...] = np.tensordot(conv.patches(x, w.shape[:2], 1), w, 3) + b


def by_place(x, w, b, y):
    """A matrix product for each place of the filter, added up."""
    _, H, W, _ = y.shape
    y[...] = b
    for a in range(w.shape[0]):
        for c in range(w.shape[1]):
            y += x[:, a : a + H, c : c + W] @ w[a, c]


def our_direct(x, w, b, y):
    """The library's kernel for any convolution."""
    direct.forward(x, w, roomy(b), y, BIAS)


def ways() -> dict[str, Callable]:
    """Name -> function (x, w, b, y)."""
    return {
        "seven loops in Python": getattr(kernels.conv_forward, "py_func", kernels.conv_forward),
        "NumPy, a product per place": by_place,
        "NumPy, im2col": im2col,
        "the seven loops, compiled": kernels.conv_forward,
        "compiled, in a better order": kernels.conv_forward_by_channels,
        "dlmini, direct": our_direct,
        "dlmini, Winograd": ops.compiled().conv_forward,
    }


def speeds(layer: Layer, reps: int = 7) -> list[Speed]:
    """Each way's speed, the median of `reps` calls after one that does not count. Python's loops get one image."""
    one_blas_thread()
    x, w, b, y = layer.arrays()
    found = []
    for name, way in ways().items():
        slow = name.endswith("in Python")
        images = 1 if slow else layer.images
        seconds = median_seconds(lambda way=way, n=images: way(x[:n], w, b, y[:n]), 1 if slow else reps, warm=not slow)
        found.append(Speed(name, layer.flops * images / seconds / 1e9))
    return found


def peak(reps: int = 20) -> float:
    """The most operations a second, in thousand millions, that NumPy's matrix product does on one core."""
    one_blas_thread()
    return max(product_speed(side, reps) for side in SQUARES)


def product_speed(side: int, reps: int) -> float:
    """The best of several calls: what the machine can do, not what it does while others use it too."""
    a = np.ones((side, side), np.float32)
    out = np.empty_like(a)
    return max(2.0 * side**3 / seconds(lambda: np.dot(a, a, out=out)) for _ in range(reps)) / 1e9


def memory_speed(megabytes: int = 64, reps: int = 7) -> float:
    """Thousand million bytes a second that one core reads and writes, copying what no cache can hold."""
    a = np.ones(megabytes << 18, np.float32)
    out = np.ones_like(a)
    return max(2.0 * a.nbytes / seconds(lambda: np.copyto(out, a)) for _ in range(reps)) / 1e9


def im2col_split(layer: Layer, reps: int = 15) -> dict[str, float]:
    """Seconds for one image of im2col's two parts: writing out the windows, and the matrix product."""
    one_blas_thread()
    x, w, _, y = layer.arrays()
    depth = layer.kernel**2 * layer.inputs
    rows, filters, out = windows(x, layer), w.reshape(depth, -1), y.reshape(-1, layer.outputs)
    parts = {"windows": lambda: windows(x, layer), "product": lambda: np.dot(rows, filters, out=out)}
    return {name: median_seconds(call, reps) / layer.images for name, call in parts.items()}


def windows(x: np.ndarray, layer: Layer) -> np.ndarray:
    """Every window as a row; here the copy happens."""
    return conv.patches(x, (layer.kernel, layer.kernel), 1).reshape(-1, layer.kernel**2 * layer.inputs)
