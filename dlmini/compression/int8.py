"""Eight bits per number: a uniform grid from the largest negative to the largest positive."""

from dataclasses import dataclass

import numpy as np

from dlmini.checks import settle, truth, whole
from dlmini.compression.compressor import NO_KEY, Compressor, check_finite, check_update, key_of
from dlmini.compression.ops import ops
from dlmini.compression.packets import Quantized


@dataclass(frozen=True, repr=False)
class Int8(Compressor):
    """Divide by the largest, multiply by 127, round.

        m = max |u|;   q = round(levels u / m);   decoded m q / levels
        |error| <= m / (2 levels): m / 254
    One m for the whole vector; one for each `bucket` of numbers if that is not 0; `PerLayer(Int8())` has one for each
    layer. Rounding is to nearest, or, if `stochastic`, up or down at random and unbiased, with |error| < m / levels.
    Wire: d + 16 bytes, and 4 for each m. (The program of Krivosheev et al. has levels=10: 21 values, not 255.)
    """

    word = "int8"
    shown = (("8 bits (int8)", {}),)
    levels: int = 127
    bucket: int = 0
    stochastic: bool = False

    def __post_init__(self):
        settle(self, levels=whole(self.levels, "levels", 1, 127), bucket=whole(self.bucket, "bucket", 0))
        settle(self, stochastic=truth(self.stochastic, "stochastic"))

    @property
    def wants_feedback(self):
        return not self.stochastic

    def encode(self, update, coin=None):
        key = key_of(coin) if self.stochastic else NO_KEY
        return quantised(update, self.bucket, 8, self.levels, "max", self.stochastic, key)


def quantised(update, bucket, bits, levels, norm, stochastic, key) -> Quantized:
    """Quantise by buckets, each on a scale of its own."""
    check_update(update)
    bucket = bucket or max(update.size, 1)
    scales = np.empty(-(-update.size // bucket), np.float32)
    ops().scales_of(update, bucket, norm == "l2", scales)
    check_finite(update, scales)
    codes = np.empty(update.size, np.uint8)
    ops().quantise(update, bucket, scales, levels, stochastic, *key, codes)
    return Quantized.of(codes, bucket, bits, levels, scales)
