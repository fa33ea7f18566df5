"""The k largest numbers, exactly."""

import math
from dataclasses import dataclass

import numpy as np

from dlmini.checks import settle
from dlmini.compression.compressor import NO_KEY, Compressor, check_share, check_update, share_of
from dlmini.compression.threshold import SAMPLE, SIZE, nth_largest, places, sample, sparse


@dataclass(frozen=True, repr=False)
class TopK(Compressor):
    """Send the largest.

        Q(u)_i = u_i  if |u_i| is among the k largest,  else 0;   k = fraction d, rounded, at least 1
        |Q(u) - u|^2 <= (1 - k/d) |u|^2
    Of equal sizes the first places win; zeros are never sent. Exact: a sample tells a threshold that is most likely low
    enough, and only the numbers above it are compared; if it was not, all are. Biased, so keep error feedback on.
    Wire: 4 bytes, and 8 for each number sent.
    Aji and Heafield, Sparse communication for distributed gradient descent, EMNLP 2017.
    """

    word = "topk"
    tried = ({"fraction": 0.2},)
    shown = (("the largest 1 % (top-k)", {"fraction": 0.01}),)
    fraction: float = 0.01

    def __post_init__(self):
        settle(self, fraction=check_share(self.fraction, "fraction"))

    def encode(self, update, coin=None):
        check_update(update)
        return sparse(update, largest_places(update, share_of(update.size, self.fraction)))


def largest_places(update, k: int) -> np.ndarray:
    """The places of the k largest sizes (of fewer, if fewer are not zero), ascending."""
    bits = update.view(np.uint32)
    if not k:
        return np.empty(0, np.uint32)
    found = places(bits, low_bound(bits, k))
    if found.size < k:
        found = places(bits, np.uint32(1))
    if found.size <= k:
        return found
    sizes = bits[found] & SIZE
    bound = nth_largest(sizes, k)
    equal = np.flatnonzero(sizes == bound)
    sizes[equal[k - np.count_nonzero(sizes > bound) :]] = 0  # of the equal ones, the first
    return found[sizes >= bound]


def low_bound(bits, k: int) -> np.uint32:
    """A threshold that most likely lets through k numbers and few more: three standard deviations below the guess."""
    if bits.size <= 2 * SAMPLE:
        return np.uint32(1)
    expected = SAMPLE * k / bits.size
    rank = math.ceil(expected + 3 * math.sqrt(expected) + 3)
    if rank >= SAMPLE:
        return np.uint32(1)
    return max(nth_largest(sample(bits, SAMPLE, NO_KEY), rank), np.uint32(1))
