"""Lesson 09: the library trains with what a student has written: `one_bit` decides, `pack_bits` makes the bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dlmini.compression.packets import Signs
from dlmini.lessons.own_compressor import OwnCompressor
from dlmini.lessons.student_code import own

EXERCISE = "09_quantisation"


def pack_bits(codes: np.ndarray, bits: int) -> np.ndarray:
    """Number i at bits [i bits, i bits + bits) of the stream, its lowest bit first."""
    each = np.unpackbits(codes.reshape(-1, 1), axis=1, count=bits, bitorder="little")
    return np.packbits(each.reshape(-1), bitorder="little")


def one_bit(u: np.ndarray, unsaid: np.ndarray) -> tuple[np.ndarray, float, float, np.ndarray]:
    """(bits, low, high, unsaid): signs of update + unsaid, the two means they stand for, and what is left."""
    p = u + unsaid
    bits = p >= 0
    high, low = p.sum(where=bits) / max(bits.sum(), 1), p.sum(where=~bits) / max((~bits).sum(), 1)
    return bits.astype(np.uint8), float(low), float(high), p - np.where(bits, high, low).astype(u.dtype)


@dataclass(frozen=True, repr=False)
class Written(OwnCompressor):
    """One bit per number by functions of one's own."""

    decide: Callable = one_bit
    pack: Callable = pack_bits

    def say(self, update: np.ndarray, unsaid: np.ndarray) -> tuple[Signs, np.ndarray]:
        bits, low, high, unsaid = self.decide(update, unsaid)
        means = (np.array([mean], np.float32) for mean in (low, high))
        return Signs(update.size, 0, *means, self.pack(bits, 1)), unsaid

    def __repr__(self) -> str:
        return f"Written({self.decide.__name__}, {self.pack.__name__})"


def mine() -> tuple[Written, str]:
    """The student's pair as a compressor, and a sentence that says whose it is."""
    decide, whose = own(EXERCISE, "one_bit", one_bit, needs=("pack_bits",))
    return Written(decide, own(EXERCISE, "pack_bits", pack_bits, needs=("one_bit",))[0]), whose
