"""The compiled twins of nn/norm.py: same names, same signatures.

Sums over a channel are taken in chunks that fit the first-level cache: within a chunk in float32, from chunk to chunk
in float64. The chunks follow from the shape alone, so that the same numbers always give the same bits.
"""

import numpy as np

from dlmini.jit import kernel
from dlmini.nn.kernels.memory import address, buffer, scratch
from dlmini.nn.kernels.panels import padded
from dlmini.nn.kernels.routines import MOMENTS, NORM, NORM_BACK, NORM_SUMS, run, table

CHUNK = 4096  # numbers of a chunk


@kernel
def _moments(table, x, M, C, chunk, centre, at_centre, part, at_part, mean, squares):
    """Mean and sum of squared distances from it, merged chunk by chunk (Chan, Golub and LeVeque, 1979).

    Within a chunk distances are taken from the mean so far, at first from that of the first chunk, so that no small
    difference of large sums or squares is left.
    """
    run(table, MOMENTS, min(chunk, M), C, x, at_centre, at_part)
    for c in range(C):
        centre[c] += part[0, c] / min(chunk, M)
    for first in range(0, M, chunk):
        pixels = min(chunk, M - first)
        run(table, MOMENTS, pixels, C, x + 4 * first * C, at_centre, at_part)
        for c in range(C):
            moved = part[0, c] / np.float64(pixels)
            delta = centre[c] + moved - mean[c]
            share = np.float64(pixels) / (first + pixels)
            squares[c] += part[1, c] - part[0, c] * moved + delta * delta * first * share
            mean[c] += delta * share
            centre[c] = mean[c]


@kernel
def _sums(table, x, dy, M, C, chunk, lines, part, at_part, relu, sums, products):
    for first in range(0, M, chunk):
        at = 4 * first * C
        run(table, NORM_SUMS, min(chunk, M - first), C, x + at, dy + at, lines, at_part, relu)
        for c in range(C):
            sums[c] += part[0, c]
            products[c] += part[1, c]


@kernel
def _back(table, x, dy, dx, M, C, chunk, lines, relu, gate):
    for first in range(0, M, chunk):
        at = 4 * first * C
        run(table, NORM_BACK, min(chunk, M - first), C, x + at, dy + at, dx + at, lines, relu, gate)


@kernel
def _rows(table, x, y, y_n, y_h, y_w, N, H, W, C, lines, relu):
    for n in range(N):
        for h in range(H):
            run(table, NORM, W, C, x + 4 * (n * H + h) * W * C, y + 4 * (n * y_n + h * y_h), y_w, lines, relu)


def pixels(x):
    """An array as whole pixels behind one another, with whole vectors of channels: itself, or such a copy."""
    if x.flags.c_contiguous and x.dtype == np.float32 and not x.shape[-1] % 8:
        return x
    copy = buffer(*x.shape[:-1], padded(x.shape[-1]))
    copy[..., : x.shape[-1]] = x
    return copy


def rows(name, *values):
    """Numbers that belong to channels, as rows with whole vectors."""
    place = scratch(name, len(values), padded(len(values[0])))
    place[...] = 0
    for row, value in zip(place, values, strict=True):
        row[: len(value)] = value
    return place


def counts(x):
    """Pixels, channels, pixels of a chunk."""
    C = x.shape[-1]
    return x.size // C, C, max(8, CHUNK // C)


def moments(x, mean, variance):
    real, x = x.shape[-1], pixels(x)
    M, C, chunk = counts(x)
    centre, part, (found, squares) = rows("centre", x.reshape(-1, C)[0]), scratch("part", 2, C), np.zeros((2, C))
    _moments(table(), address(x), M, C, chunk, centre[0], address(centre), part, address(part), found, squares)
    mean[...] = found[:real]
    variance[...] = squares[:real] / M


def line(mean, variance, gain, shift, epsilon):
    """y = scale x + offset; and what a deviation is divided by."""
    spread = 1 / np.sqrt(variance + np.float32(epsilon))
    scale = gain * spread
    return scale, shift - mean * scale, spread


def normalise(x, mean, variance, gain, shift, y, epsilon, relu=False):
    scale, offset, _ = line(mean, variance, gain, shift, epsilon)
    x, place = pixels(x), y
    if y.ndim != 4 or y.strides[3] != 4 or y.dtype != np.float32 or y.shape[3] % 8:
        place = buffer(*x.shape) if x.ndim == 4 else buffer(1, 1, *x.shape)
    N, H, W, C = place.shape
    strides = (s // 4 for s in place.strides[:3])
    _rows(table(), address(x), address(place), *strides, N, H, W, C, address(rows("line", scale, offset)), int(relu))
    if place is not y:
        y[...] = place.reshape(x.shape)[..., : y.shape[-1]]


def normalise_backward(x, mean, variance, gain, shift, dy, dx, dgain, dshift, epsilon, relu=False, gate=False):
    (scale, offset, spread), real, own = line(mean, variance, gain, shift, epsilon), x.shape[-1], x
    x, dy = pixels(x), pixels(dy)
    M, C, chunk = counts(x)
    part, (sums, products) = scratch("part", 2, C), np.zeros((2, C))
    lines, given = rows("lines", scale, offset, mean), (M, C, chunk)
    _sums(table(), address(x), address(dy), *given, address(lines), part, address(part), int(relu), sums, products)
    dshift[...] = sums[:real]
    dgain[...] = products[:real] * spread
    if dx is None:
        return
    turn, lift = -scale * spread * spread * (products[:real] / M), -scale * (sums[:real] / M)
    lines = rows("back", scale, offset, mean, turn, lift)
    fits = dx.flags.c_contiguous and dx.dtype == np.float32 and real == C
    place = dx if fits else x if x is not own else buffer(*x.shape)
    _back(table(), address(x), address(dy), address(place), *given, address(lines), int(relu), int(gate))
    if place is not dx:
        dx[...] = place[..., :real]
