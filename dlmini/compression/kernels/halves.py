"""Twins of plain/halves.py, on the bits of the numbers; float16 by one instruction where the CPU has it."""

import numpy as np

from dlmini.compression.kernels.float16 import LANES, SERVED, narrow
from dlmini.jit import kernel

U = np.uint32
SIGN, SIZE, INFINITY = U(0x80000000), U(0x7FFFFFFF), U(0x7F800000)
MOST_HALF, LEAST_NORMAL, BIAS = U(0x477FE000), U(113 << 23), U(112 << 23)  # 65504, 2^-14; the exponents' distance
HALF, TINY = np.float32(0.5), U(0x3F000000)  # 0.5 as a number and as bits
MOST_BRAIN, SATURATING, QUIET = U(0x7F7F0000), U(0x7F7F8000), U(0x7FC00000)
BIG = np.float32(2.0**112)


def to_half(x, out):
    """Sixteen at a time by hardware; the rest, and all where one number does not fit, by hand."""
    done = x.size // LANES * LANES if SERVED else 0
    if done and hardware_half(x[:done], out[:done]) > MOST_HALF:
        done = 0
    portable_half(x[done:].view(np.uint32), out[done:])


@kernel(exact=True)
def add_dense(values, weight, out):
    for i in range(values.size):
        out[i] += weight * values[i]


@kernel(exact=True)
def hardware_half(x, out):
    return narrow(x, out)


@kernel(exact=True)
def portable_half(bits, out):
    """Above 2^-14 round the bits; below, halves are 2^-24 apart, and so are floats from 0.5 on: add 0.5."""
    for i in range(bits.size):
        size = U(bits[i] & SIZE)
        fits = min(size, MOST_HALF)
        normal = U(U(fits + U(0xFFF) + U(U(fits >> U(13)) & U(1)) - BIAS) >> U(13))
        small = U(np.float32(np.uint32(fits).view(np.float32) + HALF).view(np.uint32) - TINY)
        half = small if fits < LEAST_NORMAL else normal
        odd = U(U(0x7C00) + U(U(size > INFINITY) << U(9)))
        half = odd if size >= INFINITY else half
        out[i] = np.uint16(U(half | U(U(bits[i] & SIGN) >> U(16))))


@kernel(exact=True)
def add_half(halves, weight, out):
    """The bits in their float32 places are the number times 2^-112, denormal or not; all ones is infinity or NaN."""
    for i in range(halves.size):
        half = U(halves[i])
        size = U(U(half & U(0x7FFF)) << U(13))
        finite = np.float32(np.uint32(size).view(np.float32) * BIG)
        odd = np.float32(U(size | INFINITY).view(np.float32))
        value = odd if U(half & U(0x7C00)) == U(0x7C00) else finite
        out[i] += weight * (-value if U(half & U(0x8000)) else value)


def to_brain(x, out):
    bits = x.view(np.uint32)
    if quick_brain(bits, out) >= SATURATING:
        careful_brain(bits, out)


@kernel(exact=True)
def quick_brain(bits, out):
    """Right for all that does not round to infinity; returns the largest size, so that one knows."""
    most = U(0)
    for i in range(bits.size):
        most = max(most, U(bits[i] & SIZE))
        out[i] = np.uint16(U(bits[i] + U(0x7FFF) + U(U(bits[i] >> U(16)) & U(1))) >> U(16))
    return most


@kernel(exact=True)
def careful_brain(bits, out):
    for i in range(bits.size):
        size = U(bits[i] & SIZE)
        rounded = min(U(size + U(0x7FFF) + U(U(size >> U(16)) & U(1))), MOST_BRAIN)
        odd = QUIET if size > INFINITY else INFINITY
        brain = rounded if size < INFINITY else odd
        out[i] = np.uint16(U(U(brain | U(bits[i] & SIGN)) >> U(16)))


@kernel(exact=True)
def add_brain(halves, weight, out):
    for i in range(halves.size):
        out[i] += weight * U(U(halves[i]) << U(16)).view(np.float32)
