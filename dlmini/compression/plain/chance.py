"""Random numbers by place: number i of a key is a hash of both, so loops may run in any order, on any machine."""

import numpy as np

A, B = np.uint32(0x7FEB352D), np.uint32(0x846CA68B)


def draws(start, k0, k1, out):
    """out[j] = 32 random bits, those of place `start + j` under the key (k0, k1).

    Shift and multiply, three times, with the second half of the key after the first: with fewer rounds, keys that
    differ in one bit give related numbers. The multipliers were found by a search for low bias (C. Wellons,
    Prospecting for hash functions, 2018).
    """
    h = np.arange(start, start + out.size, dtype=np.uint32) + k0
    h ^= h >> np.uint32(16)
    h *= A
    h ^= k1
    h ^= h >> np.uint32(16)
    h *= A
    h ^= h >> np.uint32(15)
    h *= B
    out[:] = h ^ (h >> np.uint32(16))


def strata(start, whole, count, k0, k1, out):
    """One random place in each of `count` equal stretches of [0, whole): those of stretches start, start + 1, ..."""
    j = np.arange(start, start + out.size + 1, dtype=np.int64)
    borders = j * whole // count
    chance = np.empty(out.size, np.uint32)
    draws(start, k0, k1, chance)
    out[:] = borders[:-1] + (chance.astype(np.int64) * np.diff(borders) >> 32)
