"""Plain values across the boundary between judge and student: never a pickle, never an object array.

A frame is a tuple behind two lengths: a table of contents (a letter and a size for each value), then the data, as in
the library's wire format. It is written here anew because the library is not there where a student's code runs. Plain
are None, bool, int, float, str, bytes, arrays and scalars of numbers, and tuples, lists and dicts of these. The judge
reads with `strict`, which doubts every length; the student's side trusts the judge.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from math import prod

import numpy as np

HEAD = struct.Struct("<QQ")  # bytes of the whole, bytes of its table of contents
MOST = 4 << 20  # bytes of a frame that the judge reads; the longest honest one has 62 KB
TABLE = 1 << 17  # bytes of its table of contents, and so the most values in it: reading them takes half a second
DEEP = 12  # containers inside containers
DTYPE = re.compile(r"[<>|][biufc]\d{1,2}")
ALIKE = 64  # keys of a dict with one hash: each is compared with all before it, while the judge does nothing else
UNSAID = 64  # an array without numbers may not say more than this by its shape
INT64 = range(-(2**63), 2**63)


class Garbled(Exception):
    """The student's side sent something that is no plain value."""


# ---- writing ----


def frame(value: tuple) -> bytes:
    """A tuple of plain values as bytes, for either direction."""
    toc, data = bytearray(), []
    _write(value, toc, data)
    return b"".join([HEAD.pack(len(toc) + sum(map(len, data)), len(toc)), toc, *data])


def _write(item, toc: bytearray, data: list) -> None:
    kind = type(item)
    if kind in (tuple, list, dict):
        parts = item if kind is not dict else [part for pair in item.items() for part in pair]
        toc += {tuple: b"(", list: b"[", dict: b"{"}[kind] + struct.pack("<Q", len(parts))
        for part in parts:
            _write(part, toc, data)
    elif isinstance(item, np.memmap | np.generic) or kind is np.ndarray:
        _write_array(np.asarray(item), b"g" if isinstance(item, np.generic) else b"a", toc, data)
    elif kind in ATOMS:
        letter, body = ATOMS[kind](item)
        toc += letter
        if letter in SIZED:
            toc += struct.pack("<Q", len(body))
        data.append(body)
    else:
        raise TypeError(
            f"a {kind.__module__}.{kind.__qualname__} cannot be sent; a message is None, bool, int, float, str, bytes, "
            "a NumPy array, or a tuple, list or dict of these"
        )


def _write_array(item: np.ndarray, letter: bytes, toc: bytearray, data: list) -> None:
    if item.dtype.hasobject:
        raise TypeError(
            f"an array of dtype {item.dtype} holds Python objects and cannot be sent; give it a numeric dtype"
        )
    code = item.dtype.str.encode()
    toc += letter + struct.pack(f"<HB{item.ndim}Q", len(code), item.ndim, *item.shape) + code
    if item.nbytes:
        data.append(np.ascontiguousarray(item).reshape(-1).view(np.uint8).data)


def _int(item: int) -> tuple[bytes, bytes]:
    if item in INT64:
        return b"i", struct.pack("<q", item)
    return b"I", item.to_bytes(item.bit_length() // 8 + 1, "little", signed=True)


SIZED = b"Isb"  # letters behind which a length stands
ATOMS = {
    type(None): lambda item: (b"N", b""),
    bool: lambda item: (b"?", bytes([item])),
    int: _int,
    float: lambda item: (b"d", struct.pack("<d", item)),
    str: lambda item: (b"s", item.encode()),
    bytes: lambda item: (b"b", item),
    bytearray: lambda item: (b"b", bytes(item)),
}


# ---- reading ----


class Reader:
    """A table of contents and the data it describes, being read. `doubt`: whoever wrote them may be lying."""

    def __init__(self, body: bytearray, toc: int, doubt: bool):
        self.toc, self.at, self.doubt = bytes(body[:toc]), 0, doubt
        self.payload, self.offset = memoryview(body)[toc:], 0

    def field(self, form: str) -> tuple:
        at, self.at = self.at, self.at + struct.calcsize(form)
        return struct.unpack_from(form, self.toc, at)

    def data(self, length: int) -> memoryview:
        at, self.offset = self.offset, self.offset + length
        if self.offset > len(self.payload):
            raise ValueError(f"the data ends after {len(self.payload)} bytes, but its table promises {self.offset}")
        return self.payload[at : self.offset]

    def short(self, found: int, most: int, what: str) -> int:
        if self.doubt and found > most:
            raise ValueError(f"{what} has {found}, more than {most}")
        return found


def trusting(body: bytearray, toc: int) -> tuple:
    """What the judge said, read by the student's side."""
    return _read(Reader(body, toc, doubt=False), 0)


def lengths(head: bytes) -> tuple[int, int]:
    """Of a frame and of its table of contents; refuses what is too long."""
    whole, toc = HEAD.unpack(head)
    if not toc <= whole <= MOST or toc > TABLE:
        raise Garbled(f"{whole} bytes at once, a table of {toc} bytes among them; too many to be read")
    return whole, toc


def strict(body: bytearray, toc: int) -> tuple:
    """What the student's side said, read by the judge."""
    try:
        value = _read(Reader(body, toc, doubt=True), 0)
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
    if letter not in READERS:
        raise ValueError(f"values of kind {letter!r} do not cross the boundary")
    return READERS[letter](src)


def _container(src: Reader, letter: bytes, depth: int):
    count = src.short(src.field("<Q")[0], len(src.toc), "a container")
    src.short(depth, DEEP, "the depth of containers")
    items = [_read(src, depth + 1) for _ in range(count)]
    if letter == b"{":
        src.short(max(Counter(map(hash, items[::2])).values(), default=0), ALIKE, "a hash of keys")
        return dict(zip(items[::2], items[1::2], strict=True))
    return tuple(items) if letter == b"(" else items


def _array(src: Reader) -> np.ndarray:
    length, ndim = src.field("<HB")
    shape = src.field(f"<{src.short(ndim, 8, 'dimensions')}Q")
    code = src.field(f"{length}s")[0].decode()
    if not DTYPE.fullmatch(code):
        raise ValueError(f"arrays of {code!r} do not cross the boundary, only those of numbers")
    dtype = np.dtype(code)
    if not prod(shape):
        src.short(max(shape), UNSAID, "the shape of an empty array")
        return np.empty(shape, dtype)
    return np.frombuffer(src.data(prod(shape) * dtype.itemsize), dtype).reshape(shape).copy()


READERS = {
    b"N": lambda src: None,
    b"?": lambda src: bool(src.data(1)[0]),
    b"i": lambda src: struct.unpack("<q", src.data(8))[0],
    b"I": lambda src: int.from_bytes(
        src.data(src.short(src.field("<Q")[0], 32, "a whole number")), "little", signed=True
    ),
    b"d": lambda src: struct.unpack("<d", src.data(8))[0],
    b"s": lambda src: bytes(src.data(src.field("<Q")[0])).decode(),
    b"b": lambda src: bytes(src.data(src.field("<Q")[0])),
}
