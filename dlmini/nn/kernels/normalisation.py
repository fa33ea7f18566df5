"""The compiled twins of nn/norm.py: same names, same signatures."""

import numpy as np

from dlmini.jit import kernel


def table(x):
    """Images or rows as a table: a column for each channel."""
    return np.ascontiguousarray(x, np.float32).reshape(-1, x.shape[-1])


@kernel
def _moments(x, mean, variance):
    M, C = x.shape
    sums = np.zeros(C, np.float64)
    for i in range(M):
        for c in range(C):
            sums[c] += x[i, c]
    sums /= M
    squares = np.zeros(C, np.float64)
    for i in range(M):
        for c in range(C):
            squares[c] += (x[i, c] - sums[c]) ** 2
    for c in range(C):
        mean[c] = sums[c]
        variance[c] = squares[c] / M


def moments(x, mean, variance):
    _moments(table(x), mean, variance)


@kernel
def _normalise(x, mean, scale, shift, y, relu):
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            value = (x[i, c] - mean[c]) * scale[c] + shift[c]
            y[i, c] = 0 if relu and value < 0 else value


def normalise(x, mean, variance, gain, shift, y, epsilon, relu=False):
    scale = gain / np.sqrt(variance + np.float32(epsilon))
    place = np.empty((x.size // x.shape[-1], x.shape[-1]), np.float32)
    _normalise(table(x), mean, scale, shift, place, relu)
    y[...] = place.reshape(y.shape)


@kernel
def _sums(x, mean, spread, gain, shift, dy, sums, products, relu):
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            u = (x[i, c] - mean[c]) * spread[c]
            if not relu or u * gain[c] + shift[c] > 0:
                sums[c] += dy[i, c]
                products[c] += dy[i, c] * u


@kernel
def _back(x, mean, spread, gain, shift, dy, dx, sums, products, relu, gate):
    M, C = x.shape
    for i in range(M):
        for c in range(C):
            u = (x[i, c] - mean[c]) * spread[c]
            slope = dy[i, c] if not relu or u * gain[c] + shift[c] > 0 else np.float32(0)
            value = gain[c] * spread[c] * (slope - sums[c] - u * products[c])
            dx[i, c] = 0 if gate and x[i, c] <= 0 else value


def normalise_backward(x, mean, variance, gain, shift, dy, dx, dgain, dshift, epsilon, relu=False, gate=False):
    spread, rows, slopes = 1 / np.sqrt(variance + np.float32(epsilon)), table(x), table(dy)
    sums, products = np.zeros((2, x.shape[-1]))
    _sums(rows, mean, spread, gain, shift, slopes, sums, products, relu)
    dshift[...] = sums
    dgain[...] = products
    if dx is not None:
        place = np.empty(rows.shape, np.float32)
        means = [np.float32(s / len(rows)) for s in (sums, products)]
        _back(rows, mean, spread, gain, shift, slopes, place, *means, relu, gate)
        dx[...] = place.reshape(dx.shape)
