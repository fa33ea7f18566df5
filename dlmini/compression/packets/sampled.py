"""The packet whose places need not be sent: both sides draw them from the same key."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dlmini.compression.ops import ops
from dlmini.compression.packets.packet import Packet, Reader, Vector

HEAD = "<IIIIIII"


@dataclass(frozen=True, eq=False)
class Sampled(Packet):
    """Of `count` equal stretches of a vector of `whole` numbers, one number each, at a place that the key decides.

    This packet covers numbers first, ..., first + size - 1 and holds the values of stretches start, start + 1, ...
    Wire: 28 bytes of header, and 4 for each value. Packets of one key may be added: their places are the same.
    """

    letter = b"R"
    size: int
    first: int
    whole: int
    count: int
    start: int
    key: tuple[int, int]
    values: Vector

    @cached_property
    def index(self) -> np.ndarray:
        places = np.empty(self.values.size, np.uint32)
        ops().strata(self.start, self.whole, max(self.count, 1), *map(np.uint32, self.key), places)
        return places - np.uint32(self.first)

    def pieces(self):
        return struct.pack(HEAD, self.size, self.first, self.whole, self.count, self.start, *self.key), self.values

    @classmethod
    def from_wire(cls, buffer):
        reader = Reader(buffer, cls)
        size, first, whole, count, start, *key = reader.fields(HEAD)
        values = reader.all_of(np.float32)
        reader.check(start + values.size <= count <= whole, "it holds more numbers than were drawn")
        packet = cls(size, first, whole, count, start, tuple(key), values)
        reader.check(not values.size or packet.index.max() < size, "its places lie outside the vector")
        return packet

    def add_to(self, out, weight=1.0):
        self.check_out(out)
        ops().scatter(self.index, self.values, np.float32(weight), out)

    def part(self, lo, hi):
        self.check_cut(lo, hi)
        a, b = (int(i) for i in np.searchsorted(self.index, (lo, hi)))
        return replace(self, size=hi - lo, first=self.first + lo, start=self.start + a, values=self.values[a:b])

    @property
    def summand(self):
        return self.values

    def replaced(self, total):
        return replace(self, values=total)
