"""Values to bytes and back: each kind of value with its writer and, right beneath, its reader.

A writer puts a descriptor (one letter, then lengths) into the table of contents and the data into the buffers.
"""

from __future__ import annotations

import ast
import struct
from math import prod

import numpy as np
from numpy.lib.format import descr_to_dtype, dtype_to_descr

from dlmini.comm.frames import Reader, Writer
from dlmini.comm.ghost import Ghost
from dlmini.comm.packet import Packet, class_named, name_of

INT64 = range(-(2**63), 2**63)


def write(item, out: Writer) -> None:
    kind = type(item)
    if kind in WRITERS:
        WRITERS[kind](item, out)
    elif isinstance(item, np.memmap):
        write_array(item, out)
    elif isinstance(item, np.generic):
        write_array(np.asarray(item), out, b"g")
    elif isinstance(item, Packet):
        WRITERS[kind] = write_packet  # asked once for each class: a protocol takes longer to ask than a packet to write
        write_packet(item, out)
    else:
        raise TypeError(
            f"a {kind.__module__}.{kind.__qualname__} cannot be sent; a message is None, bool, int, float, str, bytes, "
            "a NumPy array, a packet, or a tuple, list or dict of these"
        )


def read(src: Reader):
    letter = src.field("c")[0]
    if letter not in READERS:
        raise ValueError(f"a message begins with {letter!r}, which is no kind of value: the bytes are not a message")
    return READERS[letter](src)


def write_int(item: int, out: Writer) -> None:
    if item in INT64:
        out.put(b"i", struct.pack("<q", item))
    else:
        out.put_sized(b"I", item.to_bytes(item.bit_length() // 8 + 1, "little", signed=True))


def read_int(src: Reader) -> int:
    return struct.unpack("<q", src.data(8))[0]


def read_big_int(src: Reader) -> int:
    return int.from_bytes(src.sized(), "little", signed=True)


def write_array(item: np.ndarray, out: Writer, letter: bytes = b"a") -> None:
    if item.dtype.hasobject:
        raise TypeError(
            f"an array of dtype {item.dtype} holds Python objects and cannot be sent; give it a numeric dtype"
        )
    write_shape(letter, item, out)
    if item.nbytes:
        out.put(b"", np.ascontiguousarray(item).reshape(-1).view(np.uint8).data)


def read_array(src: Reader) -> np.ndarray:
    shape, dtype = read_shape(src)
    nbytes = prod(shape) * dtype.itemsize
    if not nbytes:
        return np.empty(shape, dtype)
    found = np.frombuffer(src.data(nbytes), dtype).reshape(shape)
    return found if found.flags.aligned and found.flags.writeable else found.copy()


def write_shape(letter: bytes, item, out: Writer) -> None:
    """Simple dtypes by their code ('<f4'), structured ones by the description that .npy files use."""
    descr = dtype_to_descr(item.dtype)
    dtype = (descr if isinstance(descr, str) else repr(descr)).encode()
    out.put(letter + struct.pack(f"<HB{item.ndim}Q", len(dtype), item.ndim, *item.shape) + dtype)


def read_shape(src: Reader) -> tuple[tuple[int, ...], np.dtype]:
    length, ndim = src.field("<HB")
    shape, dtype = src.field(f"<{ndim}Q"), src.text(length)
    return shape, descr_to_dtype(ast.literal_eval(dtype) if dtype[0] == "[" else dtype)


def write_ghost(item: Ghost, out: Writer) -> None:
    write_shape(b"h", item, out)
    out.weight += item.nbytes


def write_packet(item: Packet, out: Writer) -> None:
    name, data = name_of(item).encode(), memoryview(item.wire()).cast("B")
    if len(data) != item.nbytes:
        raise ValueError(f"{type(item).__name__}.nbytes is {item.nbytes}, but its wire() has {len(data)} bytes")
    out.put_sized(b"p" + struct.pack("<H", len(name)) + name, data)


def read_packet(src: Reader):
    return class_named(src.text(src.field("<H")[0])).from_wire(src.sized())


def write_items(letter: bytes):
    def writer(items, out: Writer) -> None:
        out.put(letter + struct.pack("<Q", len(items)))
        for item in items:
            write(item, out)

    return writer


def read_items(src: Reader) -> list:
    return [read(src) for _ in range(src.field("<Q")[0])]


WRITERS = {
    type(None): lambda item, out: out.put(b"N"),
    bool: lambda item, out: out.put(b"?", bytes([item])),
    int: write_int,
    float: lambda item, out: out.put(b"d", struct.pack("<d", item)),
    str: lambda item, out: out.put_sized(b"s", item.encode()),
    bytes: lambda item, out: out.put_sized(b"b", item),
    bytearray: lambda item, out: out.put_sized(b"b", item),
    np.ndarray: write_array,
    Ghost: write_ghost,
    tuple: write_items(b"("),
    list: write_items(b"["),
    dict: lambda items, out: write_items(b"{")([part for pair in items.items() for part in pair], out),
}

READERS = {
    b"N": lambda src: None,
    b"?": lambda src: bool(src.data(1)[0]),
    b"i": read_int,
    b"I": read_big_int,
    b"d": lambda src: struct.unpack("<d", src.data(8))[0],
    b"s": lambda src: bytes(src.sized()).decode(),
    b"b": lambda src: bytes(src.sized()),
    b"a": read_array,
    b"g": lambda src: read_array(src)[()],
    b"h": lambda src: Ghost(*read_shape(src)),
    b"p": read_packet,
    b"(": lambda src: tuple(read_items(src)),
    b"[": read_items,
    b"{": lambda src: dict(zip(*[iter(read_items(src))] * 2, strict=True)),
}
