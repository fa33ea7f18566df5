"""One bit per number: the sign alone, or times the mean size."""

from dataclasses import dataclass

import numpy as np

from dlmini.compression.compressor import Compressor, check_finite, check_update
from dlmini.compression.ops import ops
from dlmini.compression.packets import Signs


def signs(update, scale: np.float32) -> Signs:
    codes = np.empty(update.size, np.uint8)
    ops().mark(update, codes)
    return Signs.of(codes, np.array([-scale], np.float32), np.array([scale], np.float32))


@dataclass(frozen=True, repr=False)
class Sign(Compressor):
    """Say +1 or -1; zero counts as +1, one bit has no third value.

        Q(u)_i = sign(u_i)
    All numbers move by the learning rate, whatever the slope. The units are lost, so what is left unsaid means nothing:
    no error feedback (see EFSign). Wire: ceil(d / 8) + 20 bytes.
    Bernstein et al., signSGD: compressed optimisation for non-convex problems, ICML 2018.
    """

    word = "sign"
    wants_feedback = False

    def encode(self, update, coin=None):
        check_update(update)
        check_finite(update)
        return signs(update, np.float32(1))


@dataclass(frozen=True, repr=False)
class EFSign(Compressor):
    """The sign times the mean size.

        Q(u) = (|u|_1 / d) sign(u);   |Q(u) - u|^2 = (1 - delta) |u|^2   with  delta = |u|_1^2 / (d |u|_2^2) > 0
    A contraction, so error feedback repairs its bias. Wire: ceil(d / 8) + 20 bytes.
    Karimireddy et al., Error feedback fixes SignSGD and other gradient compression schemes, ICML 2019.
    """

    word = "efsign"

    def encode(self, update, coin=None):
        check_update(update)
        sums, counts = np.empty((2, 1)), np.empty(1, np.int64)
        ops().split_sums(update, 1, sums, counts)
        check_finite(update, sums)
        return signs(update, np.float32((sums[1, 0] - sums[0, 0]) / max(update.size, 1)))
