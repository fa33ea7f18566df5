"""Random numbers by key: the same key gives the same numbers on every machine, whoever asked for others before.

    default_rng([seed, rank, epoch])            the order of rows in one epoch of one rank
    default_rng([seed, 0, 0, purpose])          everything else in this room

NumPy pads short keys with zeros, so [seed] and [seed, 0] are the same stream. Purposes therefore are never
zero, and they are larger than any number of a mini-batch, which layers put in the same place of their keys.
"""

import numpy as np

from dlmini.checks import whole

SPLIT, POINTS, PICTURES, TOWNS, TURNS, SAMPLE = (2**31 + k for k in range(1, 7))


def generator(*key: int) -> np.random.Generator:
    """The generator that belongs to `key`, a row of whole numbers of which the first is the seed."""
    return np.random.default_rng([whole(number, "a seed, rank or epoch", 0) for number in key])
