"""Numbers on a grid of 2 s + 1 levels between -m and m, where m is the scale of the number's bucket.

q = round(s x / m), to nearest or at random;  code = q + s, from 0 to 2 s;  decoded m q / s
"""

import numpy as np

from dlmini.compression.plain.chance import draws


def scales_of(x, bucket, l2, scales):
    """The largest |x| of each bucket, or its Euclidean norm. A bucket with NaN or infinity has such a scale."""
    starts = np.arange(scales.size) * bucket
    if l2:
        scales[:] = np.sqrt(np.add.reduceat(x.astype(np.float64) ** 2, starts)) if x.size else 0
    else:
        scales[:] = np.maximum.reduceat(np.abs(x), starts) if x.size else 0


def quantise(x, bucket, scales, levels, stochastic, k0, k1, codes):
    """Codes of x, clipped at its scale. At random: up with probability s x / m - floor(s x / m), else down."""
    m = np.repeat(np.where(scales == 0, np.float32(1), scales), bucket)[: x.size]
    t = np.clip(x / m, -1, 1) * np.float32(levels)
    if stochastic:
        chance = np.empty(x.size, np.uint32)
        draws(0, k0, k1, chance)
        q = np.floor(t)
        q += (chance >> np.uint32(8)).astype(np.float32) * np.float32(2**-24) < t - q
    else:
        q = np.rint(t)
    codes[:] = q + np.float32(levels)


def unquantise(codes, phase, bucket, scales, levels, weight, out):
    """out += weight * decoded. `phase`: the place of the first number in its bucket."""
    s = np.float32(levels)
    m = scales[(phase + np.arange(codes.size)) // bucket]
    out += weight * ((codes.astype(np.float32) - s) / s * m)
