"""Three values per number: minus, nothing, plus."""

from dataclasses import dataclass

import numpy as np

from dlmini.checks import real, settle
from dlmini.compression.compressor import Compressor, check_finite, check_update, key_of
from dlmini.compression.ops import ops
from dlmini.compression.packets import Quantized


@dataclass(frozen=True, repr=False)
class TernGrad(Compressor):
    """Say minus, nothing or plus, at random, so that the mean is right.

        s = max |u|;   send s sign(u_i) with probability |u_i| / s, else 0
    A few large numbers would make s large and all else rare, so u is clipped first to clip * sigma, where sigma^2 is
    the mean of u^2 (about zero: otherwise a constant vector would be clipped away). Unbiased but for the clipped part;
    clip=None clips nothing, and then it is QSGD(bits=2, bucket=0). Wire: ceil(d / 4) + 20 bytes.
    Wen et al., TernGrad: ternary gradients to reduce communication in distributed deep learning, NIPS 2017.
    """

    word = "terngrad"
    wants_feedback = False
    clip: float | None = 2.5

    def __post_init__(self):
        if self.clip is not None:
            settle(self, clip=real(self.clip, "clip", above=0, infinite=True, hint="standard deviations, or None"))

    def encode(self, update, coin):
        check_update(update)
        bucket = max(update.size, 1)
        scales = np.zeros(min(update.size, 1), np.float32)
        ops().scales_of(update, bucket, False, scales)
        check_finite(update, scales)
        if self.clip is not None and update.size:
            scales[0] = min(scales[0], self.clip * root_mean_square(update))
        codes = np.empty(update.size, np.uint8)
        ops().quantise(update, bucket, scales, 1, True, *key_of(coin), codes)
        return Quantized.of(codes, bucket, 2, 1, scales)


def root_mean_square(update) -> np.float32:
    norm = np.empty(1, np.float32)
    ops().scales_of(update, update.size, True, norm)
    check_finite(update, norm)
    return norm[0] / np.float32(np.sqrt(update.size))
