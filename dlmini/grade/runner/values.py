"""Plain values across the boundary between judge and student: never a pickle, never an object array.

A frame is a tuple in the library's wire format (comm/wire.py) behind two lengths. The student's side may use the
library's own reader, for it trusts the judge. The judge reads with `strict`, which knows only None, bool, int, float,
str, bytes, arrays and scalars of numbers, and tuples, lists and dicts of these, and which doubts every length.
"""

from __future__ import annotations

import re
import struct
from math import prod

import numpy as np

from dlmini.comm.codec import READERS
from dlmini.comm.frames import Reader
from dlmini.comm.wire import pack, unpack

HEAD = struct.Struct("<QQ")  # bytes of the whole, bytes of its table of contents
MOST = 64 << 20  # bytes of a frame
DEEP = 12  # containers inside containers
ATOMS = b"N?idsb"
DTYPE = re.compile(r"[<>|][biufc]\d{1,2}")
UNSAID = 64  # an array without numbers may not say more than this by its shape


class Garbled(Exception):
    """The student's side sent something that is no plain value."""


def frame(value: tuple) -> bytes:
    """A tuple of plain values as bytes, for either direction."""
    packed = pack(value)
    return b"".join([HEAD.pack(packed.nbytes, int.from_bytes(packed.header[1:], "little")), *packed.buffers])


def trusting(body: bytearray, toc: int) -> tuple:
    """What the judge said, read by the student's side."""
    return unpack(b"C" + toc.to_bytes(8, "little"), body)


def lengths(head: bytes) -> tuple[int, int]:
    """Of a frame and of its table of contents; refuses what is too long."""
    whole, toc = HEAD.unpack(head)
    if not toc <= whole <= MOST:
        raise Garbled(f"a frame of {whole} bytes with a table of {toc} bytes; at most {MOST} are read")
    return whole, toc


def strict(body: bytearray, toc: int) -> tuple:
    """What the student's side said, read by the judge."""
    try:
        value = _read(Reader(bytes(body[:toc]), memoryview(body)[toc:]), 0)
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError, struct.error) as error:
        raise Garbled(f"bytes that are no plain value: {error}") from error
    if type(value) is not tuple or not value:
        raise Garbled("a frame that is not a tuple")
    return value


def _read(src: Reader, depth: int):
    letter = src.field("c")[0]
    if letter in (b"(", b"[", b"{"):
        return _container(src, letter, depth)
    if letter in (b"a", b"g"):
        found = _array(src)
        return found if letter == b"a" else found[()]
    if letter == b"I":
        return int.from_bytes(src.data(_short(src.field("<Q")[0], 32, "a whole number")), "little", signed=True)
    if letter not in ATOMS:
        raise ValueError(f"values of kind {letter!r} do not cross the boundary")
    return READERS[letter](src)


def _container(src: Reader, letter: bytes, depth: int):
    count = _short(src.field("<Q")[0], len(src.toc), "a container")
    _short(depth, DEEP, "the depth of containers")
    items = [_read(src, depth + 1) for _ in range(count)]
    if letter == b"{":
        return dict(zip(items[::2], items[1::2], strict=True))
    return tuple(items) if letter == b"(" else items


def _array(src: Reader) -> np.ndarray:
    length, ndim = src.field("<HB")
    shape, code = src.field(f"<{_short(ndim, 8, 'dimensions')}Q"), src.text(length)
    if not DTYPE.fullmatch(code):
        raise ValueError(f"arrays of {code!r} do not cross the boundary, only those of numbers")
    dtype = np.dtype(code)
    if not prod(shape):
        _short(max(shape), UNSAID, "the shape of an empty array")
        return np.empty(shape, dtype)
    found = np.frombuffer(src.data(prod(shape) * dtype.itemsize), dtype).reshape(shape)
    return found.copy()


def _short(found: int, most: int, what: str) -> int:
    if found > most:
        raise ValueError(f"{what} has {found}, more than {most}")
    return found
