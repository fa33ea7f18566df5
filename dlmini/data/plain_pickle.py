"""Read a pickle without trusting it.

A pickle is a program: the usual reader calls whatever function the file names, such as `os.system`.
This one builds numbers, strings, lists, dicts and arrays of bytes, and refuses to call anything else.
Even NumPy's own functions are replaced by harmless stand-ins, because they take raw memory from the file.
"""

import io
import pickle

import numpy as np


class ByteArray:
    """Stands in for numpy.ndarray while the pickle is read: collects the state, accepts arrays of uint8 only."""

    array: np.ndarray | None = None

    def __setstate__(self, state):
        _version, shape, kind, fortran, data = state
        if kind != "uint8" or not isinstance(data, bytes):
            raise pickle.UnpicklingError(f"an array of {kind}, expected uint8")
        self.array = np.frombuffer(data, np.uint8).reshape(shape, order="F" if fortran else "C")


class Kind(str):
    """Stands in for numpy.dtype: the name of a type, nothing more. Its byte order does not matter for bytes."""

    def __setstate__(self, state):
        pass


def name_of_type(code, *_flags) -> Kind:
    return Kind("uint8" if text(code) in ("u1", "|u1") else text(code))


def empty_array(*_what) -> ByteArray:
    return ByteArray()


def from_buffer(data, kind, shape, order, *_axes) -> ByteArray:
    """An array as protocol 5 writes it: all at once."""
    found = ByteArray()
    found.__setstate__((1, shape, kind, text(order) == "F", bytes(data)))
    return found


def latin_bytes(letters: str = "", _code: str = "latin1") -> bytes:
    """Bytes as Python 3 writes them for Python 2 (protocols 0 to 2): as letters; none at all if they are empty."""
    return letters.encode("latin-1")


# What the two published CIFAR archives name (written by Python 2), the same places in NumPy 2, and what Python 3 names
# where it writes the same data by an older or a newer protocol.
STAND_INS = {
    ("numpy.core.multiarray", "_reconstruct"): empty_array,
    ("numpy._core.multiarray", "_reconstruct"): empty_array,
    ("numpy.core.numeric", "_frombuffer"): from_buffer,
    ("numpy._core.numeric", "_frombuffer"): from_buffer,
    ("_codecs", "encode"): latin_bytes,
    ("__builtin__", "bytes"): latin_bytes,
    ("numpy", "ndarray"): ByteArray,
    ("numpy", "dtype"): name_of_type,
}


class Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str):
        if (module, name) not in STAND_INS:
            raise pickle.UnpicklingError(f"a call of {module}.{name}, which no plain data needs")
        return STAND_INS[module, name]


def read_plain_pickle(name: str, data: bytes) -> dict:
    """The dict in a pickle of plain data; its keys become text. `name` is for the error message."""
    try:
        content = Reader(io.BytesIO(data), encoding="bytes").load()
    # A damaged pickle can fail in any instruction of the little machine that reads it.
    except Exception as error:
        raise ValueError(
            f"{name} cannot be read: expected a pickle of plain lists and byte arrays, found {len(data):,} bytes "
            f"with {error or type(error).__name__}; it is damaged or not what its name says"
        ) from error
    if not isinstance(content, dict):
        raise ValueError(f"{name} is not what its name says: expected a dict, found a {type(content).__name__}")
    return {text(key): value.array if isinstance(value, ByteArray) else value for key, value in content.items()}


def text(value) -> str:
    """A string, whichever Python wrote it."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
