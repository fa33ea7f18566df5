"""Sixteen bits per number."""

from dataclasses import dataclass

import numpy as np

from dlmini.compression.compressor import Compressor, check_update
from dlmini.compression.ops import ops
from dlmini.compression.packets import BrainHalves, Halves


@dataclass(frozen=True, repr=False)
class Half(Compressor):
    """Round to IEEE float16: 11 significant bits, for sizes of 6e-8 to 65504.

        |error| <= 2^-11 |u|   where |u| >= 2^-14;   at most 2^-25 below
    Larger numbers become +-65504, NaN and infinity stay. Wire: 2 bytes per number. Summable, in float16: divide by the
    number of workers first if sums come near 65504.
    """

    word = "half"
    shown = (("half (float16)", {}),)
    summable = True
    everywhere_alike = True

    def encode(self, update, coin=None):
        check_update(update)
        bits = np.empty(update.size, np.uint16)
        ops().to_half(update, bits)
        return Halves(bits)


@dataclass(frozen=True, repr=False)
class BFloat16(Compressor):
    """Keep the upper half of each float32, rounded: 8 significant bits, and the whole range.

        |error| <= 2^-8 |u|
    NaN and infinity stay. Wire: 2 bytes per number.
    """

    word = "bfloat16"
    everywhere_alike = True

    def encode(self, update, coin=None):
        check_update(update)
        bits = np.empty(update.size, np.uint16)
        ops().to_brain(update, bits)
        return BrainHalves(bits)
