"""The packet of all quantisers: levels packed to the bit, and a scale for each bucket."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np

from dlmini.compression.ops import ops
from dlmini.compression.packets import bitstream
from dlmini.compression.packets.packet import Packet, Reader, Vector

HEAD = "<IIIBBxx"


@dataclass(frozen=True, eq=False)
class Quantized(Packet):
    """Number i is  scale of its bucket * (code_i - levels) / levels.

    Wire: 16 bytes of header, 4 for each scale, and ceil(d bits / 8). `first` is where the first number stood in the
    whole vector: buckets and bits are counted from there, so that a part may cut both.
    """

    letter = b"Q"
    size: int
    first: int
    bucket: int
    bits: int
    levels: int
    scales: Vector
    stream: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, bucket: int, bits: int, levels: int, scales: Vector) -> Quantized:
        return cls(codes.size, 0, bucket, bits, levels, scales, bitstream.packed(codes, bits))

    def codes(self) -> np.ndarray:
        return bitstream.unpacked(self.stream, self.first, self.size, self.bits)

    def integers(self) -> np.ndarray:
        """The levels, from -levels to levels: for histograms, zero shares and entropies."""
        return self.codes().astype(np.int16) - self.levels

    def pieces(self):
        head = struct.pack(HEAD, self.size, self.first, self.bucket, self.bits, self.levels)
        return head, self.scales, self.stream

    @classmethod
    def from_wire(cls, buffer):
        reader = Reader(buffer, cls)
        size, first, bucket, bits, levels = reader.fields(HEAD)
        reader.check(1 <= bits <= 8 and bucket and 1 <= levels <= 127, "its header holds impossible numbers")
        scales = reader.array(np.float32, buckets_of(first, size, bucket))
        stream = reader.array(np.uint8, bitstream.stream_bytes(first, size, bits))
        reader.done()
        return cls(size, first, bucket, bits, levels, scales, stream)

    def add_to(self, out, weight=1.0):
        self.check_out(out)
        phase = self.first % self.bucket
        ops().unquantise(self.codes(), phase, self.bucket, self.scales, self.levels, np.float32(weight), out)

    def part(self, lo, hi):
        self.check_cut(lo, hi)
        start = (self.first + lo) // self.bucket - self.first // self.bucket
        scales = self.scales[start : start + buckets_of(self.first + lo, hi - lo, self.bucket)]
        stream = bitstream.cut(self.stream, self.first, lo, hi, self.bits)
        return Quantized(hi - lo, self.first + lo, self.bucket, self.bits, self.levels, scales, stream)


def buckets_of(first: int, size: int, bucket: int) -> int:
    """How many buckets the numbers first, ..., first + size - 1 touch."""
    return (first + size - 1) // bucket - first // bucket + 1 if size else 0
