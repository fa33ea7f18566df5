"""Lesson 10: the library trains with what a student has written: `top_k` chooses, `ErrorFeedback` remembers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dlmini.compression.compressor import Compressor, share_of
from dlmini.compression.packets import Sparse
from dlmini.lessons.student_code import own

EXERCISE = "10_sparsification"


def top_k(u: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(index, values) of the k largest magnitudes, places ascending; of equal ones the first."""
    index = np.sort(np.argsort(-np.abs(u), kind="stable")[:k]).astype(np.int32)
    return index, u[index]


class Remembering:
    """Top-k of update + unsaid; the rest stays unsaid."""

    def __init__(self, size: int, k: int):
        self.k, self.unsaid = k, np.zeros(size, np.float32)

    def encode(self, update: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        self.unsaid = self.unsaid + update
        index, values = top_k(self.unsaid, self.k)
        self.unsaid[index] -= values
        return index, values


@dataclass(frozen=True, repr=False)
class Written(Compressor):
    """Top-k by a memory of one's own: memory(size, k), with a verb encode(update) and an array `unsaid`."""

    remembers: ClassVar[bool] = True
    memory: Callable = Remembering
    fraction: float = 0.01

    def start(self, size: int, workers: int = 1) -> Codec:
        return Codec(self.memory(size, share_of(size, self.fraction)))

    def __repr__(self) -> str:
        return f"Written({self.memory.__name__}, fraction={self.fraction})"


@dataclass
class Codec:
    """One worker's memory, in the library's terms."""

    own: object

    def encode(self, update: np.ndarray, coin=None) -> Sparse:
        index, values = self.own.encode(update)
        return Sparse(update.size, index.astype(np.uint32), values.astype(np.float32))

    def memory(self) -> dict[str, np.ndarray]:
        return {"unsaid": self.own.unsaid.copy()}

    def restore(self, memory) -> None:
        self.own.unsaid = np.array(memory["unsaid"])


def mine(fraction: float = 0.01) -> tuple[Written, str]:
    """The student's ErrorFeedback as a compressor, and a sentence that says whose it is."""
    memory, whose = own(EXERCISE, "ErrorFeedback", Remembering, needs=("ErrorFeedback.encode", "top_k"))
    return Written(memory, fraction), whose
