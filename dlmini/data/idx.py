"""IDX, the file format of MNIST: four bytes of magic, the sizes, then the numbers, all big-endian.

    byte 0, 1   zero
    byte 2      the type of the numbers (table TYPES)
    byte 3      how many dimensions d
    4 d bytes   the sizes, uint32
    the rest    the numbers, the last dimension running fastest
Y. LeCun, C. Cortes, C. Burges, The MNIST database of handwritten digits.
"""

import gzip
import io
import math
import zlib
from pathlib import Path

import numpy as np

from dlmini.data.checks import path_of
from dlmini.data.dataset import Dataset
from dlmini.files import write_bytes

TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
GZIP_MAGIC = b"\x1f\x8b"


def read_idx(path) -> np.ndarray:
    """The array in an IDX file, plain or gzipped (told apart by content, because browsers unpack silently).

    The file must be complete: a byte too few or too many is an error that says so.
    """
    path = path_of(path)
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; check the name, or run `dlmini data get`")
    data = unpacked(path, path.read_bytes())
    dtype, shape = header(path, data)
    start, found = 4 + 4 * len(shape), len(data)
    expected = start + math.prod(shape) * dtype.itemsize
    if found != expected:
        fault = "truncated" if found < expected else "too long"
        raise ValueError(
            f"{path} is {fault}: its header promises {'x'.join(map(str, shape))} numbers of {dtype.itemsize} bytes, "
            f"expected {expected:,} bytes in all, found {found:,}; get the file again"
        )
    return np.frombuffer(data, dtype, offset=start).reshape(shape).astype(dtype.newbyteorder("="))


def unpacked(path: Path, data: bytes) -> bytes:
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(
            f"{path} is damaged: expected a whole gzip file, found {len(data):,} bytes that do not unpack ({error}); "
            f"get the file again"
        ) from error


def header(path: Path, data: bytes) -> tuple[np.dtype, tuple[int, ...]]:
    """Type and shape, as the first bytes tell them."""
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in TYPES:
        kinds = ", ".join(f"{kind:02x}" for kind in TYPES)
        raise ValueError(
            f"{path} is not an IDX file: it begins with {data[:4].hex(' ') or 'nothing'}, expected 00 00, "
            f"a type ({kinds}) and the number of dimensions"
        )
    d = data[3]
    if d == 0 or len(data) < 4 + 4 * d:
        raise ValueError(
            f"{path} is truncated or damaged: expected at least one dimension and 4 bytes of size for each, "
            f"found {d} dimensions and {len(data) - 4} bytes; get the file again"
        )
    shape = np.frombuffer(data, ">u4", count=d, offset=4)
    return np.dtype(TYPES[data[2]]), tuple(int(size) for size in shape)


def write_idx(path, array: np.ndarray) -> None:
    """Write an array; gzipped if the name ends in .gz, and then the same array always gives the same bytes."""
    array = np.asarray(array)
    kinds = {np.dtype(text).newbyteorder("="): kind for kind, text in TYPES.items()}
    if array.dtype not in kinds or not 1 <= array.ndim <= 255:
        raise TypeError(f"IDX holds arrays of {', '.join(map(str, kinds))}, not {array.ndim}-dimensional {array.dtype}")
    kind = kinds[array.dtype]
    sizes = np.array(array.shape, ">u4").tobytes()
    data = bytes([0, 0, kind, array.ndim]) + sizes + array.astype(TYPES[kind]).tobytes()
    write_bytes(path, packed(data) if str(path).endswith(".gz") else data)


def packed(data: bytes) -> bytes:
    """gzip without name and time of day, which would differ from run to run."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        file.write(data)
    return buffer.getvalue()


def read_idx_pair(images, labels, name: str, classes) -> Dataset:
    """A dataset of two files: grey images (N, height, width) and labels (N,), both of unsigned bytes."""
    x, y = read_idx(images), read_idx(labels)
    for path, array, d, what in ((images, x, 3, "images"), (labels, y, 1, "labels")):
        if array.ndim != d or array.dtype != np.uint8:
            raise ValueError(
                f"{path} does not hold {what}: expected {d} dimensions of uint8, found {array.ndim} of {array.dtype}; "
                f"perhaps two files have changed names"
            )
    if len(x) != len(y):
        raise ValueError(f"{images} holds {len(x)} images but {labels} {len(y)} labels; they belong to different sets")
    if len(y) and y.max() >= len(classes):
        raise ValueError(f"{labels} does not hold labels of {name}: expected 0 to {len(classes) - 1}, found {y.max()}")
    return Dataset(name, x[..., None], y, tuple(classes))
