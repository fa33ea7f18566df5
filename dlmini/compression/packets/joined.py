"""Several packets end to end: one for each layer."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from dlmini.compression.packets.packet import Packet, Reader


@dataclass(frozen=True, eq=False)
class Joined(Packet):
    """The vectors of all its packets, one after the other. Wire: 4 bytes, and 5 for each packet beside its own."""

    letter = b"J"
    packets: tuple[Packet, ...]

    @cached_property
    def starts(self) -> list[int]:
        """Where each packet's numbers begin; and the end."""
        return [0, *accumulate(packet.size for packet in self.packets)]

    @property
    def size(self) -> int:
        return self.starts[-1]

    @property
    def nbytes(self) -> int:
        return 4 + sum(5 + packet.nbytes for packet in self.packets)

    def pieces(self):
        table = b"".join(packet.letter + struct.pack("<I", packet.nbytes) for packet in self.packets)
        return struct.pack("<I", len(self.packets)), table, *(packet.wire() for packet in self.packets)

    @classmethod
    def from_wire(cls, buffer):
        reader = Reader(buffer, cls)
        table = [reader.fields("<cI") for _ in range(*reader.fields("<I"))]
        unknown = {letter for letter, _ in table} - set(Packet.kinds)
        reader.check(not unknown, f"it holds packets {unknown}, which are unknown here")
        packets = tuple(Packet.kinds[letter].from_wire(reader.take(nbytes)) for letter, nbytes in table)
        reader.done()
        return cls(packets)

    def add_to(self, out, weight=1.0):
        self.check_out(out)
        for start, packet in zip(self.starts, self.packets, strict=False):
            packet.add_to(out[start : start + packet.size], weight)

    def part(self, lo, hi):
        """The packets touched, the first and the last cut; an empty part holds none."""
        self.check_cut(lo, hi)
        inside = [
            (max(lo - start, 0), min(hi - start, p.size), p)
            for start, p in zip(self.starts, self.packets, strict=False)
        ]
        return Joined(tuple(p.part(a, b) for a, b, p in inside if a < b))
