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
from dlmini.compression.feedback import Feedback
from dlmini.pieces import public

globals().update(public("compression"))  # every compressor of this room: pieces.py finds them
__all__ = ["Compressor", "Feedback", "NotFinite", *public("compression")]
