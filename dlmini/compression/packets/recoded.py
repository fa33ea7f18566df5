"""Packets that say another packet in fewer bytes, without loss."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

import numpy as np

from dlmini.compression.ops import ops
from dlmini.compression.packets.packet import Packet, Reader
from dlmini.compression.packets.quantized import Quantized, buckets_of

HEAD = "<IIIIBxxx"


class Recoded(Packet):
    """The packet `inner` in other bytes: it decodes as that one does."""

    inner: Packet

    @property
    def size(self) -> int:
        return self.inner.size

    def dense(self):
        return self.inner.dense()

    def add_to(self, out, weight=1.0):
        self.inner.add_to(out, weight)


@dataclass(frozen=True, eq=False)
class Deflated(Recoded):
    """Any packet through zlib's deflate (RFC 1951, without zlib's frame). Wire: 2 bytes, and what deflate makes of it.

    level 1 to 9 looks for repeated strings, ever harder; 0 looks only for runs of one byte (zlib's Z_RLE).
    """

    letter = b"Z"
    inner: Packet
    level: int
    body: bytes

    @classmethod
    def of(cls, inner: Packet, level: int = 0) -> Deflated:
        strategy = zlib.Z_DEFAULT_STRATEGY if level else zlib.Z_RLE
        deflate = zlib.compressobj(level or 1, zlib.DEFLATED, -15, 9, strategy)
        return cls(inner, level, deflate.compress(inner.wire()) + deflate.flush())

    def pieces(self):
        return self.inner.letter, bytes([self.level]), self.body

    @classmethod
    def from_wire(cls, buffer):
        reader = Reader(buffer, cls)
        letter, level = reader.fields("cB")
        reader.check(letter in Packet.kinds, f"it says that it holds a packet {letter!r}, which is unknown here")
        return cls(Packet.kinds[letter].from_wire(inflated(reader)), level, bytes(reader.rest))

    def part(self, lo, hi):
        return Deflated.of(self.inner.part(lo, hi), self.level)


def inflated(reader: Reader) -> bytearray:
    """What the rest of the bytes was deflated from."""
    inflate = zlib.decompressobj(-15)
    try:
        content = bytearray(inflate.decompress(reader.rest))
    except zlib.error as error:
        reader.check(False, str(error))
    reader.check(inflate.eof and not inflate.unused_data, "the deflated stream does not end where they do")
    return content


@dataclass(frozen=True, eq=False)
class Elias(Recoded):
    """A quantised packet of which only the non-zeros are said, in Elias' omega code.

    Wire: 20 bytes of header, 4 for each scale, and the code: about log2 of the gap, and a bit or two, per non-zero.
    """

    letter = b"E"
    inner: Quantized
    count: int
    body: np.ndarray

    @classmethod
    def of(cls, inner: Quantized) -> Elias:
        codes = inner.codes()
        count = int(np.count_nonzero(codes != inner.levels))
        room = np.empty(8 * count + 8, np.uint8)  # gap and level together never need more than 64 bits
        return cls(inner, count, room[: ops().write_elias(codes, inner.levels, room)].copy())

    def pieces(self):
        q = self.inner
        return struct.pack(HEAD, q.size, q.first, q.bucket, self.count, q.levels), q.scales, self.body

    @classmethod
    def from_wire(cls, buffer):
        reader = Reader(buffer, cls)
        size, first, bucket, count, levels = reader.fields(HEAD)
        reader.check(bucket > 0 and 1 <= levels <= 127, "its header holds impossible numbers")
        scales, body = reader.array(np.float32, buckets_of(first, size, bucket)), reader.all_of(np.uint8)
        codes = np.full(size, levels, np.uint8)
        reader.check(ops().read_elias(body, count, levels, codes) == body.size, "its code is broken")
        return cls(Quantized(size, first, bucket, 8, levels, scales, codes), count, body)

    def part(self, lo, hi):
        return Elias.of(self.inner.part(lo, hi))
