"""Twins of plain/quantising.py. Buckets are handed on as slices: loops over a slice vectorise."""

import numpy as np

from dlmini.compression.kernels.chance import draw
from dlmini.jit import kernel

SIZE = np.uint32(0x7FFFFFFF)
ONE, GRAIN = np.float32(1), np.float32(2**-24)


@kernel(exact=True)
def largest_bits(bits):
    """The bits of |x| order like |x| itself, and NaN and infinity come out on top."""
    most = np.uint32(0)
    for i in range(bits.size):
        most = max(most, np.uint32(bits[i] & SIZE))
    return most


@kernel
def sum_of_squares(x):
    total = 0.0
    for i in range(x.size):
        total += np.float64(x[i]) * np.float64(x[i])
    return total


@kernel(exact=True)
def scales_of(x, bucket, l2, scales):
    bits, found = x.view(np.uint32), scales.view(np.uint32)
    for b in range(scales.size):
        lo, hi = b * bucket, min(x.size, (b + 1) * bucket)
        if l2:
            scales[b] = np.float32(np.sqrt(sum_of_squares(x[lo:hi])))
        else:
            found[b] = largest_bits(bits[lo:hi])


@kernel(exact=True, inline=True)
def to_nearest(x, m, s, codes):
    for i in range(x.size):
        t = x[i] / m
        t = ONE if t > ONE else t
        t = -ONE if t < -ONE else t
        codes[i] = np.uint8(np.int32(np.rint(t * s) + s))


@kernel(exact=True, inline=True)
def at_random(x, m, s, start, k1, codes):
    for i in range(x.size):
        t = x[i] / m
        t = ONE if t > ONE else t
        t = (-ONE if t < -ONE else t) * s
        low = np.floor(t)
        chance = np.float32(np.int32(draw(np.uint32(start + np.uint32(i)), k1) >> np.uint32(8))) * GRAIN
        up = ONE if chance < t - low else np.float32(0)
        codes[i] = np.uint8(np.int32(low + up + s))


@kernel(exact=True)
def quantise(x, bucket, scales, levels, stochastic, k0, k1, codes):
    s = np.float32(levels)
    for b in range(scales.size):
        lo, hi = b * bucket, min(x.size, (b + 1) * bucket)
        m = scales[b] if scales[b] > 0 else ONE
        if stochastic:
            at_random(x[lo:hi], m, s, np.uint32(np.uint32(lo) + k0), k1, codes[lo:hi])
        else:
            to_nearest(x[lo:hi], m, s, codes[lo:hi])


@kernel(exact=True, inline=True)
def add_scaled(codes, s, m, weight, out):
    for i in range(codes.size):
        out[i] += weight * ((np.float32(codes[i]) - s) / s * m)


@kernel(exact=True)
def unquantise(codes, phase, bucket, scales, levels, weight, out):
    s = np.float32(levels)
    for b in range(scales.size):
        lo, hi = max(0, b * bucket - phase), min(codes.size, (b + 1) * bucket - phase)
        add_scaled(codes[lo:hi], s, scales[b], weight, out[lo:hi])
