"""Batch normalisation in plain NumPy: the value, and right beneath it the derivative."""

from dataclasses import dataclass
from math import prod
from typing import ClassVar

import numpy as np

from dlmini.checks import real, settle
from dlmini.nn.layers import Layer


def moments(x, mean, variance):
    """Of each channel over images and pixels: mean = E[x], variance = E[(x - mean)^2]."""
    axes = tuple(range(x.ndim - 1))
    mean[...] = x.mean(axis=axes, dtype=np.float64)
    variance[...] = x.var(axis=axes, dtype=np.float64)


def normalise(x, mean, variance, gain, shift, y, epsilon, relu=False):
    """y = gain (x - mean) / sqrt(variance + epsilon) + shift, then ReLU if asked."""
    y[...] = (x - mean) * (gain / np.sqrt(variance + x.dtype.type(epsilon))) + shift
    if relu:
        np.maximum(y, 0, out=y)


def normalise_backward(x, mean, variance, gain, shift, dy, dx, dgain, dshift, epsilon, relu=False, gate=False):
    """With u = (x - mean) / sqrt(variance + epsilon) and means over the M numbers of a channel:

        dshift = sum of dy;  dgain = sum of dy u;  dx = gain / sqrt(variance + epsilon) (dy - dshift / M - u dgain / M)

    The last two terms are there because every number also moves the mean and the variance. `relu`: a ReLU came behind,
    and dy counts only where it let something through. `gate`: dx (None: not wanted) is kept only where x > 0.
    """
    axes = tuple(range(x.ndim - 1))
    spread = 1 / np.sqrt(variance + x.dtype.type(epsilon))
    u = (x - mean) * spread
    if relu:
        dy = dy * (u * gain + shift > 0)
    dshift[...] = dy.sum(axis=axes, dtype=np.float64)
    dgain[...] = (dy * u).sum(axis=axes, dtype=np.float64)
    if dx is not None:
        count = x.size // x.shape[-1]
        dx[...] = gain * spread * (dy - dshift / count - u * (dgain / count))
        if gate:
            dx *= x > 0


@dataclass(frozen=True)
class BatchNorm(Layer):
    """Every channel gets mean 0 and variance 1 over the batch, then a gain and a shift of its own that are learned.

        y = gain (x - mean) / sqrt(variance + epsilon) + shift
    While training, mean and variance are the batch's own. Predicting takes them from `model.statistics(w, sample)`:
    they are a function of the weights and of a sample of images, and no part of the vector, where an optimiser or a
    compressor would act on them. Where a channel has a single number, the answer is the shift.
    Parameters: two for each channel. Ioffe and Szegedy, Batch normalization, 2015.
    """

    epsilon: float = 1e-5
    looks: ClassVar = False

    def __post_init__(self):
        settle(self, epsilon=real(self.epsilon, "epsilon", above=0, hint="it keeps the variance from being zero"))

    def parameters(self, shape):
        return (shape[-1],), (shape[-1],)

    def begin(self, shape, arrays, key):
        arrays[0][...] = 1

    def statistics(self, shape):
        return 2 * shape[-1]

    def flops(self, shape):
        return 5 * prod(shape)

    def memo(self, images, shape, arena):
        return [arena.kept(shape[-1]), arena.kept(shape[-1])]

    def measure(self, ops, x, memo, mode):
        """Mean and variance, as the mode has it."""
        if mode.measures:
            ops.moments(x, *memo)
            mode.saw(*memo)
        else:
            mode.tell(*memo)

    def forward(self, ops, p, x, y, memo, mode):
        self.measure(ops, x, memo, mode)
        ops.normalise(x, *memo, *p, y, self.epsilon)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        ops.normalise_backward(x, *memo, *p, dy, dx, *g, self.epsilon)
