"""float32 to 16 bits and back, rounding to nearest, ties to even.

Infinity and NaN stay what they are. A finite number beyond the range becomes the largest finite one: then what was
kept back is finite too, and error feedback can say it later.
"""

import numpy as np

MOST_HALF, MOST_BRAIN = np.float32(65504), np.uint32(0x7F7F0000)
INFINITY = np.uint32(0x7F800000)


def add_dense(values, weight, out):
    out += weight * values


def to_half(x, out):
    """IEEE float16: 5 bits of exponent, 10 of mantissa. `out` is its bits, as uint16."""
    fits = np.where(np.isfinite(x), np.clip(x, -MOST_HALF, MOST_HALF), x)
    out[:] = fits.astype(np.float16).view(np.uint16)


def add_half(halves, weight, out):
    out += weight * halves.view(np.float16).astype(np.float32)


def to_brain(x, out):
    """bfloat16: the upper half of a float32; 8 bits of exponent, 7 of mantissa."""
    bits = x.view(np.uint32)
    size, sign = bits & np.uint32(0x7FFFFFFF), bits & np.uint32(0x80000000)
    rounded = np.minimum(size + np.uint32(0x7FFF) + ((size >> np.uint32(16)) & np.uint32(1)), MOST_BRAIN)
    odd = np.where(size > INFINITY, np.uint32(0x7FC00000), INFINITY)
    out[:] = (np.where(size < INFINITY, rounded, odd) | sign) >> np.uint32(16)


def add_brain(halves, weight, out):
    out += weight * (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)
