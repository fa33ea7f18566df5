"""Packets that hold every number: as float32, or as 16 bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlmini.compression.ops import ops
from dlmini.compression.packets.packet import Packet, Reader, Vector


@dataclass(frozen=True, eq=False)
class Dense(Packet):
    """The numbers themselves. Wire: 4 bytes each."""

    letter = b"D"
    values: Vector

    @property
    def size(self) -> int:
        return self.values.size

    def pieces(self):
        return (self.values,)

    @classmethod
    def from_wire(cls, buffer):
        return cls(Reader(buffer, cls).all_of(np.float32))

    def dense(self):
        return self.values.copy()

    def add_to(self, out, weight=1.0):
        self.check_out(out)
        ops().add_dense(self.values, np.float32(weight), out)

    def part(self, lo, hi):
        self.check_cut(lo, hi)
        return Dense(self.values[lo:hi])

    @property
    def summand(self):
        return self.values

    def replaced(self, total):
        return Dense(total)


@dataclass(frozen=True, eq=False)
class Sixteen(Packet):
    """Numbers of 16 bits each, held as these bits. Wire: 2 bytes each."""

    bits: np.ndarray

    @property
    def size(self) -> int:
        return self.bits.size

    def pieces(self):
        return (self.bits,)

    @classmethod
    def from_wire(cls, buffer):
        return cls(Reader(buffer, cls).all_of(np.uint16))

    def part(self, lo, hi):
        self.check_cut(lo, hi)
        return type(self)(self.bits[lo:hi])


class Halves(Sixteen):
    """IEEE float16. May be added on the way: every addition rounds to 11 bits, and a sum beyond 65504 is infinite."""

    letter = b"H"

    def add_to(self, out, weight=1.0):
        self.check_out(out)
        ops().add_half(self.bits, np.float32(weight), out)

    @property
    def summand(self):
        return self.bits.view(np.float16)

    def replaced(self, total):
        return Halves(total.view(np.uint16))


class BrainHalves(Sixteen):
    """bfloat16: the upper halves of float32. NumPy has no such type, so they cannot be added on the way."""

    letter = b"B"

    def add_to(self, out, weight=1.0):
        self.check_out(out)
        ops().add_brain(self.bits, np.float32(weight), out)
