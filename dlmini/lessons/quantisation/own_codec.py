"""Lesson 09: the library trains with what a student has written: `one_bit` decides, `pack_bits` makes the bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dlmini.compression.compressor import Compressor
from dlmini.compression.packets import Signs
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
class Written(Compressor):
    """One bit per number by functions of one's own. It keeps what it left unsaid by itself."""

    remembers: ClassVar[bool] = True
    decide: Callable = one_bit
    pack: Callable = pack_bits

    def start(self, size: int, workers: int = 1) -> Codec:
        return Codec(self, np.zeros(size, np.float32))

    def __repr__(self) -> str:
        return f"Written({self.decide.__name__}, {self.pack.__name__})"


@dataclass
class Codec:
    """One worker's memory."""

    method: Written
    unsaid: np.ndarray

    def encode(self, update: np.ndarray, coin=None) -> Signs:
        bits, low, high, self.unsaid = self.method.decide(update, self.unsaid)
        means = (np.array([mean], np.float32) for mean in (low, high))
        return Signs(update.size, 0, *means, self.method.pack(bits, 1))

    def memory(self) -> dict[str, np.ndarray]:
        return {"unsaid": self.unsaid.copy()}

    def restore(self, memory) -> None:
        self.unsaid = np.array(memory["unsaid"])


def mine() -> tuple[Written, str]:
    """The student's pair as a compressor, and a sentence that says whose it is."""
    decide, whose = own(EXERCISE, "one_bit", one_bit, needs=("pack_bits",))
    return Written(decide, own(EXERCISE, "pack_bits", pack_bits, needs=("one_bit",))[0]), whose
