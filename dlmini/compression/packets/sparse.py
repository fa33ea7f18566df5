"""Packets that hold a few numbers of many: with their values, or only with their signs."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from dlmini.compression.ops import ops
from dlmini.compression.packets.packet import Packet, Reader, Vector

NEGATIVE = np.uint32(1 << 31)


@dataclass(frozen=True, eq=False)
class Sparse(Packet):
    """values[j] at place index[j], zero elsewhere; places ascend. Wire: 4 bytes, and 8 for each number held."""

    letter = b"P"
    size: int
    index: np.ndarray
    values: Vector

    def pieces(self):
        return struct.pack("<I", self.size), self.index, self.values

    @classmethod
    def from_wire(cls, buffer):
        reader = Reader(buffer, cls)
        (size,) = reader.fields("<I")
        index = reader.array(np.uint32, len(reader.rest) // 8)
        values = reader.all_of(np.float32)
        reader.check(len(values) == len(index), "it has not as many values as places")
        reader.check(ascending(index, size), "its places do not ascend inside the vector")
        return cls(size, index, values)

    def add_to(self, out, weight=1.0):
        self.check_out(out)
        ops().scatter(self.index, self.values, np.float32(weight), out)

    def part(self, lo, hi):
        self.check_cut(lo, hi)
        here = slice(*np.searchsorted(self.index, (lo, hi)))
        return Sparse(hi - lo, self.index[here] - np.uint32(lo), self.values[here])


@dataclass(frozen=True, eq=False)
class Spikes(Packet):
    """+step or -step at some places, zero elsewhere. Wire: 8 bytes, and 4 for each: 31 bits of place, one of sign."""

    letter = b"K"
    size: int
    step: float
    marks: np.ndarray

    @property
    def index(self) -> np.ndarray:
        return self.marks & ~NEGATIVE

    @property
    def values(self) -> Vector:
        step = np.float32(self.step)
        return np.where(self.marks & NEGATIVE, -step, step)

    def pieces(self):
        return struct.pack("<If", self.size, self.step), self.marks

    @classmethod
    def from_wire(cls, buffer):
        reader = Reader(buffer, cls)
        size, step = reader.fields("<If")
        packet = cls(size, step, reader.all_of(np.uint32))
        reader.check(ascending(packet.index, size), "its places do not ascend inside the vector")
        return packet

    def add_to(self, out, weight=1.0):
        self.check_out(out)
        ops().scatter(self.index, self.values, np.float32(weight), out)

    def part(self, lo, hi):
        self.check_cut(lo, hi)
        here = slice(*np.searchsorted(self.index, (lo, hi)))
        return Spikes(hi - lo, self.step, self.marks[here] - np.uint32(lo))


def ascending(index: np.ndarray, size: int) -> bool:
    return not index.size or bool(index[-1] < size and (index[1:] > index[:-1]).all())
