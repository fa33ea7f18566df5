"""The wire's short cut for what is sent most: a C-ordered array of plain numbers.

Its header depends on dtype and shape alone, and the same few come again and again: they are written and read once, and
then known. Bytes are those of `wire.pack`, which serves everything else; it takes five times as long.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dlmini.comm.codec import read_shape, write_shape
from dlmini.comm.frames import Reader, Writer
from dlmini.comm.ghost import Ghost

NUMBERS = "biufc"  # kinds of dtype whose arrays lend their memory to anybody: booleans, integers, floats, complex


def header_of(message) -> bytes | None:
    """The header of such an array, whose payload is then its memory; None for any other message."""
    if type(message) is np.ndarray and message.flags.c_contiguous:
        return written(message.dtype, message.shape)
    return None


@lru_cache(maxsize=1024)
def written(dtype: np.dtype, shape: tuple[int, ...]) -> bytes | None:
    if dtype.kind not in NUMBERS or 0 in shape:
        return None
    out = Writer()
    write_shape(b"a", Ghost(shape, dtype), out)
    return bytes(out.toc)


@lru_cache(maxsize=1024)
def read(header: bytes) -> tuple[tuple[int, ...], np.dtype] | None:
    """(shape, dtype) of such an array; None if the header is of something else."""
    if header[:1] != b"a":
        return None
    src = Reader(header[1:], memoryview(b""))
    shape, dtype = read_shape(src)
    return None if dtype.kind not in NUMBERS or 0 in shape else (shape, dtype)
