"""Memory for kernels that work on raw addresses: aligned buffers, scratch space, and checked access in debug mode.

NumPy aligns arrays to 16 bytes only, and vector code may read (never write) up to one vector beyond the last
channel of the last pixel. So every buffer here starts on a cache line and ends with one spare line.
"""

import threading
from collections import deque
from math import prod

import numpy as np

from dlmini import jit

DEBUG = jit.mode() == "debug"
LINE = 64  # bytes of a cache line
_local = threading.local()


def known() -> deque:
    """Debug mode: the memory blocks that this thread's kernels were given last."""
    return _local.__dict__.setdefault("known", deque(maxlen=64))


def buffer(*shape: int, dtype=np.float32) -> np.ndarray:
    """A zeroed array on a cache line of its own, with a spare line behind it."""
    nbytes = prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(nbytes + 2 * LINE, np.uint8)
    skip = -raw.ctypes.data % LINE
    return raw[skip : skip + nbytes].view(dtype).reshape(shape)


def scratch(purpose: str, *shape: int, dtype=np.float32) -> np.ndarray:
    """Space that lasts until the same purpose asks again; one per thread, grown when needed, never freed."""
    spaces = _local.__dict__.setdefault("spaces", {})
    key = purpose, shape, dtype
    if key not in spaces:
        size = prod(shape)
        whole = spaces.get((purpose, dtype))
        if whole is None or whole.size < size:
            whole = spaces[purpose, dtype] = buffer(size, dtype=dtype)
            for old in [k for k in spaces if len(k) == 3 and k[0] == purpose]:
                del spaces[old]
        spaces[key] = whole[:size].reshape(shape)
    return spaces[key]


def block(array: np.ndarray) -> np.ndarray:
    """The memory block that an array is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def spare(array: np.ndarray) -> int:
    """How many bytes may be read behind the array's last element."""
    end = np.lib.array_utils.byte_bounds
    return end(block(array))[1] - end(array)[1]


def address(array: np.ndarray) -> int:
    """Where the array starts; in debug mode its memory block becomes known to `floats` and `codes`."""
    if DEBUG:
        whole = block(array)
        known().appendleft((*np.lib.array_utils.byte_bounds(whole), whole))
    return array.__array_interface__["data"][0]


def pitches(image: np.ndarray) -> tuple[int, int, int]:
    """Strides of image, row and pixel, in floats."""
    n, h, w, _ = image.strides
    return n // 4, h // 4, w // 4


def dense(array: np.ndarray, room: int = 0) -> np.ndarray:
    """The array itself if vector code can read it (float32, dense pixels, `room` bytes behind it), else such a copy."""
    close = array.strides[-1] == 4 and array.strides[-2] == 4 * array.shape[-1]
    if close and array.dtype == np.float32 and (not room or spare(array) >= room):
        return array
    copy = buffer(*array.shape)
    copy[...] = array
    return copy


def _at(start: int, shape: tuple, strides: tuple, dtype) -> np.ndarray:
    """Debug mode: memory as an array, refused when a part of it lies outside the known buffers."""
    stop = start + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + np.dtype(dtype).itemsize
    for low, high, whole in known():
        if low <= start and stop <= high:
            return np.ndarray(shape, dtype, whole.reshape(-1).view(np.uint8), start - low, strides)
    raise IndexError(f"a kernel touches addresses {start:#x} to {stop:#x}, outside every buffer it was given")


def floats(start: int, count: int = 8) -> np.ndarray:
    """Debug mode: `count` floats at an address."""
    return _at(start, (count,), (4,), np.float32)


def grid(start: int, shape: tuple, *steps: int) -> np.ndarray:
    """Debug mode: floats at regular distances, counted in floats."""
    return _at(start, shape, tuple(4 * s for s in steps), np.float32)


def cells(start: int, shape: tuple, *steps: int) -> np.ndarray:
    """Debug mode: bytes at regular distances."""
    return _at(start, shape, steps, np.uint8)


def codes(start: int, count: int = 8) -> np.ndarray:
    """Debug mode: `count` one-byte codes at an address."""
    return _at(start, (count,), (1,), np.uint8)
