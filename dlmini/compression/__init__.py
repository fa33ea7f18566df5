"""Compression: an update vector in, a packet of few bytes out.

    packet = QSGD(bits=4).encode(update, np.random.default_rng([seed, rank, t]))
    packet.nbytes, packet.dense(), packet.add_to(total, 1 / workers)

| | bytes for d numbers | unbiased | error |
|---|---|---|---|
| None_ | 4 d | yes | 0 |
| Half, BFloat16 | 2 d | | 2^-11, 2^-8 of each number |
| Int8 | d | if stochastic | 1/254 of the largest |
| QSGD(b), TernGrad | b d / 8, d / 4 | yes | large, but averages out |
| OneBit, EFSign, Sign | d / 8 | | contraction (not Sign) |
| Threshold, TopK, DGC | 8 k | | contraction: what is small |
| RandomK | 4 k | yes | (d/k - 1) of the energy |
| Strom | 4 k | | what is below tau, or beyond it |

`Deflate(any)` packs the bytes, `PerLayer(any)` compresses layer by layer, `Feedback(any, size)` remembers what was left
unsaid. Packets live in `packets`, the inner loops in `plain` (NumPy) and `kernels` (Numba).
"""

from dlmini.compression.compressor import Compressor, NotFinite
from dlmini.compression.deflate import Deflate
from dlmini.compression.dgc import DGC
from dlmini.compression.feedback import Feedback
from dlmini.compression.half import BFloat16, Half
from dlmini.compression.int8 import Int8
from dlmini.compression.none import None_
from dlmini.compression.one_bit import OneBit
from dlmini.compression.per_layer import PerLayer
from dlmini.compression.qsgd import QSGD
from dlmini.compression.random_k import RandomK
from dlmini.compression.sign import EFSign, Sign
from dlmini.compression.strom import Strom
from dlmini.compression.terngrad import TernGrad
from dlmini.compression.threshold import Threshold
from dlmini.compression.top_k import TopK

__all__ = [
    "DGC",
    "QSGD",
    "BFloat16",
    "Compressor",
    "Deflate",
    "EFSign",
    "Feedback",
    "Half",
    "Int8",
    "None_",
    "NotFinite",
    "OneBit",
    "PerLayer",
    "RandomK",
    "Sign",
    "Strom",
    "TernGrad",
    "Threshold",
    "TopK",
]
