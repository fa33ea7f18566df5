"""A few bits per number, unbiased."""

from dataclasses import dataclass

from dlmini.checks import settle, truth, whole, word
from dlmini.compression.compressor import Compressor, key_of
from dlmini.compression.int8 import quantised
from dlmini.compression.packets import Elias


@dataclass(frozen=True, repr=False)
class QSGD(Compressor):
    """Round at random to one of the two neighbouring levels, so that the mean is right.

        a = |u_i| / norm,  l = floor(a s);   level l + 1 with probability a s - l, else l
        decoded  norm sign(u_i) level / s
        E Q(u) = u,   E |Q(u) - u|^2 <= min(n / s^2, sqrt(n) / s) |u|^2   in each bucket of n numbers
    `bits` are those on the wire, the sign included: s = 2^(bits - 1) - 1, so 4 bits are 15 values. norm: "l2" as in the
    theory, or "max", which is smaller and so finer. A zero bucket stays zero. Large buckets save scales, small ones
    keep the variance low. Wire: ceil(d bits / 8) + 16 bytes, and 4 for each bucket; with elias=True only non-zeros are
    said, in Elias' omega code (20 bytes, 4 for each bucket, and the code): shorter where most levels are zero.
    Do not add error feedback: the error may be larger than the update.
    Alistarh et al., QSGD: communication-efficient SGD via gradient quantization and encoding, NIPS 2017.
    """

    word = "qsgd"
    tried = ({}, {"elias": True})
    wants_feedback = False
    bits: int = 4
    bucket: int = 512
    norm: str = "max"
    elias: bool = False

    def __post_init__(self):
        settle(self, bits=whole(self.bits, "bits", 2, 8), bucket=whole(self.bucket, "bucket", 0))
        settle(self, norm=word(self.norm, "norm", ("max", "l2")), elias=truth(self.elias, "elias"))

    @property
    def levels(self) -> int:
        """Steps on either side of zero: the s of the formula."""
        return 2 ** (self.bits - 1) - 1

    def encode(self, update, coin):
        bits = 8 if self.elias else self.bits
        packet = quantised(update, self.bucket, bits, self.levels, self.norm, True, key_of(coin))
        return Elias.of(packet) if self.elias else packet
