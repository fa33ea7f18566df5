"""Some numbers, chosen by chance: the same ones on all ranks."""

from dataclasses import dataclass

import numpy as np

from dlmini.checks import settle, truth
from dlmini.compression.compressor import Compressor, check_finite, check_share, check_update, key_of, share_of
from dlmini.compression.packets import Sampled


@dataclass(frozen=True, repr=False)
class RandomK(Compressor):
    """Send k numbers at random places, enlarged so that the mean is right.

        Q(u)_i = (d/k) u_i  if i was drawn,  else 0;   k = fraction d, rounded, at least 1
        E Q(u) = u,   E |Q(u) - u|^2 = (d/k - 1) |u|^2
    Drawn is one place out of each of k equal stretches: none twice, and each with the same chance. (Where k does not
    divide d, stretches of w and of w + 1 numbers are enlarged by w and w + 1.) The key of the draw travels, the places
    do not. With a shared coin they are the same on all ranks, and packets may be added on the way.
    scaled=False sends u_i itself: a contraction, k/d in the mean, for use with error feedback; the enlarged form with
    feedback would diverge. Wire: 28 bytes, and 4 for each number sent.
    Wangni et al., Gradient sparsification for communication-efficient distributed optimization, NIPS 2018; Stich et
    al., Sparsified SGD with memory, NIPS 2018.
    """

    word = "randomk"
    tried = ({"fraction": 0.2},)
    fraction: float = 0.01
    shared: bool = True
    scaled: bool = True

    def __post_init__(self):
        settle(self, fraction=check_share(self.fraction, "fraction"))
        settle(self, shared=truth(self.shared, "shared"), scaled=truth(self.scaled, "scaled"))

    @property
    def summable(self):
        return self.shared

    @property
    def shared_coin(self):
        return self.shared

    @property
    def wants_feedback(self):
        return not self.scaled

    def encode(self, update, coin):
        check_update(update)
        check_finite(update)
        d, k = update.size, share_of(update.size, self.fraction)
        key = tuple(int(half) for half in key_of(coin))
        packet = Sampled(d, 0, d, k, 0, key, np.empty(k, np.float32))
        packet.values[:] = update[packet.index]
        if self.scaled:
            packet.values[:] *= np.diff(np.arange(k + 1) * d // max(k, 1)).astype(np.float32)
        return packet
