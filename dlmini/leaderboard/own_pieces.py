"""Pieces that speak by an entry's voice: a compressor of one's own, and a mixing of one's own."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from dlmini.compression.compressor import Compressor, check_update
from dlmini.compression.packets import Packet
from dlmini.leaderboard.voices import Unfit

SAY: ContextVar[Voice] = ContextVar("SAY")  # of the rank that is computing
LONGEST = 4  # bytes per number beyond which a message of one's own is refused: the vector itself is no longer


class Voice(NamedTuple):
    """call: (function, *args) of the entry; order: in which it is shown the numbers of an update.

    The order is drawn with the world and the same for all its ranks and rounds. Were it that of the network, `hear`
    could move every weight to where it was in a network trained beforehand, so far that first weights do not matter.
    """

    call: Callable
    order: np.ndarray


@dataclass(frozen=True, repr=False)
class OwnWords(Compressor):
    """Whatever `say` makes of an update, and `hear` of that. What it leaves unsaid is remembered for the next time."""

    word: ClassVar[str] = "own"
    wants_feedback: ClassVar[bool] = True

    def encode(self, update, coin=None):
        check_update(update)
        voice = SAY.get()
        message = voice.call("say", update[voice.order], int(coin.integers(2**31)))
        return Said(update.size, as_bytes(message, update.size))

    def __repr__(self):
        return "own"


class Said(Packet):
    """A message of an entry's own. Wire: 4 bytes for the size, then the message. It is heard where it is added."""

    letter = b"V"

    def __init__(self, size: int, message: bytes):
        self.size, self.message = size, message

    def pieces(self) -> tuple:
        return struct.pack("<I", self.size), self.message

    @classmethod
    def from_wire(cls, buffer) -> Said:
        return cls(*struct.unpack_from("<I", buffer), bytes(memoryview(buffer)[4:]))

    def add_to(self, out, weight: float = 1.0) -> None:
        self.check_out(out)
        voice = SAY.get()
        found = as_vector(voice.call("hear", self.message, self.size), self.size)
        out[voice.order] += np.float32(weight) * found

    def part(self, lo: int, hi: int) -> Said:
        if (lo, hi) != (0, self.size):
            raise Unfit("a message of your own cannot be cut into parts; use server:1, or allreduce without back")
        return self


def as_bytes(message, size: int) -> bytes:
    """A message as bytes: those of an array of bytes, or bytes."""
    if isinstance(message, np.ndarray) and message.dtype == np.uint8 and message.ndim == 1:
        message = message.tobytes()
    if not isinstance(message, bytes):
        raise Unfit(f"say returned {kind(message)}; it returns bytes, or an array of uint8")
    if len(message) > LONGEST * size + 64:
        raise Unfit(f"say made {len(message)} bytes of {size} numbers, more than the numbers themselves take")
    return message


def as_vector(found, size: int) -> np.ndarray:
    if not isinstance(found, np.ndarray) or found.shape != (size,) or found.dtype.kind not in "fiu":
        raise Unfit(f"hear returned {kind(found)}; it returns a vector of {size} numbers")
    with np.errstate(over="ignore"):  # what is too large becomes infinite, and is refused
        vector = found.astype(np.float32)
    if not np.isfinite(vector).all():
        raise Unfit("hear returned numbers that are not finite")
    return vector


def kind(value) -> str:
    return f"an array of {value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else repr(value)[:80]


def own_mixing(voices, nobody: int):
    """(workers, round) -> K, asked of a voice that is no rank's: it knows nothing but these two numbers."""
    return partial(_mixing, voices, nobody)


def _mixing(voices, nobody: int, size: int, t: int) -> np.ndarray:
    found = voices.call(nobody, "mixing", size, t)
    try:
        matrix = np.array(found)
        if matrix.dtype.kind in "biuf":
            return matrix.astype(np.float64)
    except ValueError:  # rows of unequal lengths
        pass
    raise Unfit(f"mixing returned {kind(found)}; it returns a square of numbers")
