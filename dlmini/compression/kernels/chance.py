"""Twins of plain/chance.py; `draw` is one of its draws."""

import numpy as np

from dlmini.jit import kernel

A, B = np.uint32(0x7FEB352D), np.uint32(0x846CA68B)
S15, S16 = np.uint32(15), np.uint32(16)


@kernel(exact=True, inline=True)
def draw(h, k1):
    """32 random bits of a place; `h` is the place plus the first half of the key."""
    h = np.uint32(np.uint32(np.uint32(h ^ np.uint32(h >> S16)) * A) ^ k1)
    h = np.uint32(np.uint32(h ^ np.uint32(h >> S16)) * A)
    h = np.uint32(np.uint32(h ^ np.uint32(h >> S15)) * B)
    return np.uint32(h ^ np.uint32(h >> S16))


@kernel(exact=True)
def strata(start, whole, count, k0, k1, out):
    first = np.uint32(np.uint32(start) + k0)
    for j in range(out.size):
        lo = (start + j) * whole // count
        hi = (start + j + 1) * whole // count
        chance = np.int64(draw(np.uint32(first + np.uint32(j)), k1))
        out[j] = np.uint32(lo + (chance * (hi - lo) >> 32))
