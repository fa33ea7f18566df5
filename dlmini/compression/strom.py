"""Whatever has grown beyond a step, one step of it."""

from dataclasses import dataclass

import numpy as np

from dlmini.checks import real, settle
from dlmini.compression.compressor import Compressor, check_finite, check_update
from dlmini.compression.packets import Spikes
from dlmini.compression.packets.sparse import NEGATIVE
from dlmini.compression.threshold import FLOAT32, places

TINY = float(np.finfo(np.float32).smallest_subnormal)


@dataclass(frozen=True, repr=False)
class Strom(Compressor):
    """Send +tau or -tau where more than that has gathered.

        Q(u)_i = tau  if u_i > tau,   -tau  if u_i < -tau,   else 0
    Meant for error feedback: u = residual + gradient, and the residual goes on as u - Q(u). A number that grows faster
    than tau a round is never said in full. Wire: 8 bytes, and 4 for each number (31 bits of place, 1 of sign).
    Strom, Scalable distributed DNN training using commodity GPU cloud computing, Interspeech 2015.
    """

    word = "strom"
    tried = ({"tau": 0.01},)
    tau: float = 1.0

    def __post_init__(self):
        settle(self, tau=real(self.tau, "tau", least=TINY, most=FLOAT32, hint="the step that is sent"))

    def encode(self, update, coin=None):
        check_update(update)
        bits, step = update.view(np.uint32), np.float32(self.tau)
        index = places(bits, step.view(np.uint32) + np.uint32(1))
        check_finite(update, update[index])
        return Spikes(update.size, float(step), index | (bits[index] & NEGATIVE))
