"""Lossless bytes: whatever a compressor says, without its repetitions."""

from dataclasses import dataclass, replace

from dlmini.checks import settle, whole
from dlmini.compression.compressor import Compressor, check_inner
from dlmini.compression.int8 import Int8
from dlmini.compression.packets import Deflated


@dataclass(frozen=True, repr=False)
class Deflate(Compressor):
    """Another compressor's packets through deflate (RFC 1951).

    Gradients repeat nothing but zeros. So level=0 looks only for runs of one byte and codes the rest by frequency: on
    quantised gradients faster and shorter than levels 1 to 9, which also look for repeated strings (of 2 M Student-t
    numbers as Int8, 99.5 % of them zero: x95, against x47 at level 1 and x71 at level 6, which takes four times as
    long). The ratio is that of the zeros: state it with their share and with the error. No lossless code needs fewer
    bits than the entropy of the levels. Wire: 2 bytes, and what is left. The classroom cluster of Krivosheev, Kuznetsov
    and Spitsyn sends int8 this way.
    """

    word = "deflate"
    tried = ({"inner": Int8()},)
    inner: Compressor
    level: int = 0

    def __post_init__(self):
        check_inner(self.inner, "Deflate")
        settle(self, level=whole(self.level, "level", 0, 9))

    @property
    def wants_feedback(self):
        return self.inner.wants_feedback

    @property
    def shared_coin(self):
        return self.inner.shared_coin

    def fit(self, shapes):
        return replace(self, inner=self.inner.fit(shapes))

    def encode(self, update, coin=None):
        return Deflated.of(self.inner.encode(update, coin), self.level)
