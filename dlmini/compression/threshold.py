"""Only the large numbers, by a threshold: fixed, or such that about a given share is sent."""

from dataclasses import dataclass

import numpy as np

from dlmini.checks import real, settle, shown
from dlmini.compression.compressor import Compressor, check_finite, check_share, check_update, key_of, share_of
from dlmini.compression.ops import ops
from dlmini.compression.packets import Sparse

SIZE = np.uint32(0x7FFFFFFF)
FLOAT32 = float(np.finfo(np.float32).max)


@dataclass(frozen=True, repr=False)
class Threshold(Compressor):
    """Send only what is large.

        Q(u)_i = u_i  if |u_i| >= tau,  else 0
    Threshold(tau) is fixed, and may send nothing or everything. Threshold(keep=0.05) sets tau anew for each update so
    that about this share is sent: from a sample of 64 / keep numbers or more, so the share is right to about an eighth
    of itself, and at least one number goes. Zeros are never sent. Biased, so keep error feedback on (Tolstobrov
    forgets the rest). Wire: 4 bytes, and 8 for each number sent (32-bit place, float32 value).
    Static and adaptive: Tolstobrov, Methods of parallel training, MSU 2022; sampled: Lin et al., Deep gradient
    compression, ICLR 2018.
    """

    word = "threshold"
    tried = ({"keep": 0.2},)
    shown = (("the largest 5 % (threshold)", {"keep": 0.05}),)
    value: float | None = None
    keep: float | None = None

    def __post_init__(self):
        if (self.value is None) == (self.keep is None):
            given = f"value is {shown(self.value)} and keep is {shown(self.keep)}"
            raise ValueError(f"{given}; give either a threshold, Threshold(1.0), or a share, Threshold(keep=0.05)")
        if self.keep is not None:
            settle(self, keep=check_share(self.keep, "keep"))
        else:
            settle(self, value=real(self.value, "value", least=0, most=FLOAT32))

    def encode(self, update, coin=None):
        check_update(update)
        bits = update.view(np.uint32)
        bound = np.float32(self.value).view(np.uint32) if self.keep is None else self.bound(bits, coin)
        return sparse(update, places(bits, max(bound, np.uint32(1))))

    def bound(self, bits, coin) -> np.uint32:
        """The threshold above which lies the share, in a sample."""
        if not bits.size:
            return np.uint32(1)
        seen = sample(bits, max(SAMPLE, round(64 / self.keep)), key_of(coin))
        return nth_largest(seen, share_of(seen.size, self.keep))


SAMPLE = 16384


def sample(bits, count, key) -> np.ndarray:
    """The sizes (as bits) of `count` numbers, one out of each of as many equal stretches; of all, if they are few."""
    if count >= bits.size:
        return bits & SIZE
    index = np.empty(count, np.uint32)
    ops().strata(0, bits.size, count, *key, index)
    return bits[index] & SIZE


def nth_largest(sizes, n: int) -> np.uint32:
    return np.partition(sizes, sizes.size - n)[sizes.size - n]


def places(bits, bound) -> np.ndarray:
    """Where the size reaches the bound."""
    room = np.empty(bits.size, np.uint32)  # untouched memory costs nothing
    return room[: ops().collect(bits, bound, room)].copy()


def sparse(update, index) -> Sparse:
    values = update[index]
    check_finite(update, values)  # odd numbers pass every threshold, so they are among these
    return Sparse(update.size, index, values)
