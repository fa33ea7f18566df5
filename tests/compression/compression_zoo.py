"""Every compressor of the room, with every option that changes its packets; and updates to feed them."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dlmini.compression import (
    DGC,
    QSGD,
    BFloat16,
    Deflate,
    EFSign,
    Half,
    Int8,
    None_,
    OneBit,
    PerLayer,
    RandomK,
    Sign,
    Strom,
    TernGrad,
    Threshold,
    TopK,
)
from dlmini.pieces import tried

DENSE = [None_(), Half(), BFloat16()]
INTEGERS = [Int8(), Int8(10), Int8(bucket=7), Int8(stochastic=True)]
QUANTISED = [QSGD(bits) for bits in range(2, 9)] + [QSGD(bucket=0), QSGD(3, 5, "l2"), QSGD(4, 16, elias=True)]
TERNARY = [TernGrad(), TernGrad(None)]
SIGNS = [OneBit(), Sign(), EFSign()]
SPARSE = [Threshold(0.5), Threshold(keep=0.1), TopK(0.1), RandomK(0.2), RandomK(0.2, scaled=False), Strom(0.5)]
WRAPPED = [Deflate(Int8()), Deflate(TopK(0.3), 6), Deflate(Deflate(QSGD(2)))]
PURE = [*DENSE, *INTEGERS, *QUANTISED, *TERNARY, *SIGNS, *SPARSE, *WRAPPED]
ALL = [*PURE, DGC(0.1, warm_up=())]
MORE = [
    it for it in tried("compression") if type(it) not in {PerLayer, *map(type, ALL)}
]  # whatever the room has besides
PURE, ALL = [*PURE, *(it for it in MORE if not it.remembers)], [*ALL, *MORE]


def layered(size: int) -> list[PerLayer]:
    """Compressors of a model with a matrix, a vector and an empty array, as far as the size gives room."""
    rows, rest = divmod(size, 3)
    shapes = ((rows, 3), (0, 4), (rest,))
    return [PerLayer(inner, shapes) for inner in (Int8(), OneBit(), TopK(0.3))] + [PerLayer(QSGD(), shapes, small=30)]


def coin(*key: int) -> np.random.Generator:
    return np.random.default_rng([11, *key])


def heavy(size: int, seed: int = 0) -> np.ndarray:
    """Gradient-like: most numbers small, a few large."""
    return (np.random.default_rng(seed).standard_normal(size) ** 3).astype(np.float32)


numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, -0.5]),
    st.floats(-1e6, 1e6, width=32, allow_subnormal=False),
)
updates = hnp.arrays(np.float32, st.integers(0, 70), elements=numbers)
