"""What all compressors share: four facts about them, two verbs with sensible answers, and the checks of their input.

    packet = compressor.encode(update, coin)      update: 1-D float32; coin: np.random.default_rng([seed, rank, t, ...])
`encode` is pure: the same update and coin give the same packet, and nothing is remembered. What a packet leaves unsaid
is kept by the caller (`feedback.py`), or by the codec that `start` makes where a method's memory is more than that.

NaN and infinity: 32- and 16-bit floats carry them through, so that a diverged run is seen at the other end. All other
compressors refuse them (`NotFinite`, whose `index` tells where): they would vanish below thresholds or swallow a scale.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import ClassVar

import numpy as np

from dlmini.checks import fraction, piece
from dlmini.compression.ops import ops

MOST = 2**31  # places and sizes travel in 32 bits, sometimes with a sign


class NotFinite(ValueError):
    """A number of the update is NaN or infinite; `index` is its place."""

    index: int


class Compressor:
    """An immutable description whose repr is the legend of a plot.

    summable        packets may be added on the way (all-reduce); else they are gathered, or sent to a server
    wants_feedback  what was left unsaid should be added to the next update: yes for the biased ones. No for the
                    unbiased: their errors average out, and may be larger than the update, so kept ones would grow
    shared_coin     all ranks must be given the same coin
    remembers       its codec keeps what it left unsaid by itself: the caller must not
    everywhere_alike  what becomes of a number depends on nothing but the number itself
    """

    summable: ClassVar[bool] = False
    wants_feedback: ClassVar[bool] = True
    shared_coin: ClassVar[bool] = False
    remembers: ClassVar[bool] = False
    everywhere_alike: ClassVar[bool] = False

    def fit(self, shapes) -> Compressor:
        """This compressor for a vector made of arrays of these shapes, end to end; most need not know."""
        return self

    def start(self, size: int, workers: int = 1):
        """What encodes one worker's updates of `size` numbers. A compressor that remembers nothing does it itself."""
        return self

    def __repr__(self):
        """As one would type it: what equals its default is left out."""
        named = [(f, getattr(self, f.name)) for f in fields(self) if getattr(self, f.name) != f.default]
        given = [repr(value) if f.default is MISSING else f"{f.name}={value!r}" for f, value in named]
        return f"{type(self).__name__}({', '.join(given)})"


def check_update(update) -> None:
    if not isinstance(update, np.ndarray) or update.dtype != np.float32:
        found = update.dtype if isinstance(update, np.ndarray) else type(update).__name__
        raise TypeError(f"the update is {found}, not a vector of float32; convert it with astype(np.float32)")
    if update.ndim != 1 or not update.flags.c_contiguous or update.size >= MOST:
        raise ValueError(
            f"the update has shape {update.shape} and strides {update.strides}; one contiguous vector of fewer than "
            "2^31 numbers is compressed, for example np.ascontiguousarray(update).reshape(-1)"
        )


def check_finite(update, telling=None) -> None:
    """Refuse an update with NaN or infinity. `telling`: numbers at hand that would be odd too (scales, sums)."""
    if telling is None:
        telling = np.uint32(ops().largest(update.view(np.uint32))).view(np.float32)
    if np.isfinite(telling).all():
        return
    bad = np.flatnonzero(~np.isfinite(update))
    if not bad.size:
        raise ValueError("the update's numbers are finite, but their norm is too large for a float32: scale it down")
    error = NotFinite(
        f"number {bad[0]} of the update is {update[bad[0]]} ({bad.size} of {update.size} are not finite): training has "
        "diverged, or a batch holds bad data; lower the learning rate or look at the gradient there"
    )
    error.index = int(bad[0])
    raise error


def check_share(value, name: str) -> float:
    return fraction(value, name, hint="the share of the numbers that are sent")


def check_inner(inner, owner: str) -> None:
    """What packs or cuts up another compressor's packets takes one that remembers nothing."""
    piece(inner, "inner", ("fit", "remembers"), f"a compressor, for example {owner}(Int8())")
    if inner.remembers:
        raise ValueError(f"{inner!r} remembers, and {owner} does not: use a compressor without memory")


def share_of(size: int, share: float) -> int:
    """How many numbers a share is: the nearest whole number, but at least one where there is one at all.

    Otherwise a share that is too small would never say anything, and what is left unsaid would grow for ever.
    """
    return min(size, max(1, round(share * size)))


def key_of(coin: np.random.Generator) -> tuple[np.uint32, np.uint32]:
    """64 random bits, from which the kernels hash as many numbers as they need, each by its place."""
    if not isinstance(coin, np.random.Generator):
        raise TypeError(f"coin is {coin!r}; chance is needed here: pass np.random.default_rng([seed, rank, round])")
    k0, k1 = coin.integers(2**32, size=2, dtype=np.uint32)
    return k0, k1


NO_KEY = (np.uint32(0), np.uint32(0))
