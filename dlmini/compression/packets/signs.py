"""The packet of one bit per number."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from dlmini.compression.ops import ops
from dlmini.compression.packets import bitstream
from dlmini.compression.packets.packet import Packet, Reader, Vector

HEAD = "<III"


@dataclass(frozen=True, eq=False)
class Signs(Packet):
    """Number i is `high` of its column where its bit is set, else `low`; the vector is a matrix written row by row.

    Wire: 12 bytes of header, 8 for each column, and ceil(d / 8). A part keeps the values of all columns.
    """

    letter = b"S"
    size: int
    first: int
    low: Vector
    high: Vector
    stream: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, low: Vector, high: Vector) -> Signs:
        return cls(codes.size, 0, low, high, bitstream.packed(codes, 1))

    def codes(self) -> np.ndarray:
        """0 or 1 for each number."""
        return bitstream.unpacked(self.stream, self.first, self.size, 1)

    def pieces(self):
        return struct.pack(HEAD, self.size, self.first, self.low.size), self.low, self.high, self.stream

    @classmethod
    def from_wire(cls, buffer):
        reader = Reader(buffer, cls)
        size, first, columns = reader.fields(HEAD)
        reader.check(columns > 0, "its header holds impossible numbers")
        low, high = reader.array(np.float32, columns), reader.array(np.float32, columns)
        stream = reader.array(np.uint8, bitstream.stream_bytes(first, size, 1))
        reader.done()
        return cls(size, first, low, high, stream)

    def add_to(self, out, weight=1.0):
        self.check_out(out)
        ops().unmark(self.codes(), self.first % self.low.size, self.low, self.high, np.float32(weight), out)

    def part(self, lo, hi):
        self.check_cut(lo, hi)
        return Signs(hi - lo, self.first + lo, self.low, self.high, bitstream.cut(self.stream, self.first, lo, hi, 1))
