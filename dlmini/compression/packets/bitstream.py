"""Streams of b-bit numbers that are cut anywhere: which bytes hold which numbers.

A packet remembers in `first` where its first number stood in the whole vector. The stream's number p lies at bits
[p b, p b + b), so a cut keeps the bytes it touches, and at most one bit-fragment at either end travels in vain.
"""

import numpy as np

from dlmini.compression.ops import ops


def stream_bytes(first: int, size: int, bits: int) -> int:
    """How many bytes hold numbers first, ..., first + size - 1."""
    return -(-(first + size) * bits // 8) - first * bits // 8 if size else 0


def packed(codes: np.ndarray, bits: int) -> np.ndarray:
    if bits == 8:
        return codes
    out = np.empty(stream_bytes(0, codes.size, bits), np.uint8)
    ops().pack(codes, bits, out)
    return out


def unpacked(data: np.ndarray, first: int, size: int, bits: int) -> np.ndarray:
    if bits == 8:
        return data
    codes = np.empty(size, np.uint8)
    ops().unpack(data, first % 8, bits, codes)
    return codes


def cut(data: np.ndarray, first: int, lo: int, hi: int, bits: int) -> np.ndarray:
    """The bytes of numbers lo to hi of a stream that begins with number `first`."""
    start = (first + lo) * bits // 8 - first * bits // 8
    return data[start : start + stream_bytes(first + lo, hi - lo, bits)]
