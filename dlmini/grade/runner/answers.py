"""What a student's function returned, made plain: what a teacher takes for an answer crosses, all else is told.

A namedtuple is a tuple, a Counter a dict, a matrix an array, and a number of any class or in an array of no dimension a
number. This is done where the
student's code runs, so methods of such classes are called there and nowhere else. What is too large or too deep for
the judge to read is told here, too, before anybody has copied it.
"""

from __future__ import annotations

import numpy as np

from dlmini.grade.runner.values import DEEP, MOST, UNSAID

VALUES = 100_000  # in all containers of an answer together
LEVELS = DEEP - 3  # the frame around an answer has levels of its own
DIGITS = 31 * 8  # bits of a whole number
KNOWN = "return numbers, arrays or texts, or tuples, lists and dicts of these"
WAYS = {  # how to come to an answer from what is none
    "coroutine": "nothing of it has been computed yet: write def without async",
    "set": "it has no order: return a list",
    "frozenset": "it has no order: return a list",
    "Fraction": "return float(...) of it",
    "Decimal": "return float(...) of it",
    "memoryview": "return np.array(...) of it",
    "array": "return np.array(...) of it",
    "complex": "return real numbers",
    "function": "return what it gives: call it",
}


class NoAnswer(Exception):
    """What came back cannot be an answer: a sentence."""


def plain(value):
    """The same answer, of plain tuples, lists, dicts, arrays, numbers and texts only. NoAnswer, if that cannot be."""
    return Plain().of(value, 0)


class Plain:
    """Counts what an answer holds: bytes of arrays and texts, and single values."""

    def __init__(self):
        self.bytes = self.values = 0

    def of(self, value, depth: int):
        self.count(1, 0)
        if value is None or isinstance(value, bool | np.bool_):
            return value
        for kind in (list, tuple, dict):
            if isinstance(value, kind):
                return self.container(value, kind, depth)
        if isinstance(value, np.ndarray | np.generic) and not isinstance(value, str | bytes):
            return self.array(value)
        return self.atom(value)

    def container(self, value, kind: type, depth: int):
        if depth >= LEVELS:
            raise NoAnswer(f"Your function returned lists, tuples or dicts in one another, more than {LEVELS} deep.")
        self.count(kind.__len__(value), 0)
        if kind is dict:
            return {self.of(name, depth + 1): self.of(one, depth + 1) for name, one in dict.items(value)}
        return kind([self.of(one, depth + 1) for one in kind.__iter__(value)])

    def array(self, value):
        if isinstance(value, np.ma.MaskedArray):
            if hidden := int(np.ma.count_masked(value)):
                raise NoAnswer(f"Your function returned an array in which {hidden} numbers are masked: fill them in.")
            value = value.data
        if value.dtype.kind not in "?biufc":
            raise NoAnswer(f"Your function returned an array of {value.dtype}, not of numbers; give it another dtype.")
        if value.ndim > 8:
            raise NoAnswer(f"Your function returned an array of {value.ndim} dimensions; no answer has more than 8.")
        if not value.size and max(value.shape) > UNSAID:
            raise NoAnswer(f"Your function returned an empty array of shape {value.shape}.")
        self.count(0, value.nbytes)
        return np.asarray(value) if value.ndim else value[()]

    def atom(self, value):
        if isinstance(value, int):
            if (bits := int.bit_length(value)) > DIGITS:
                raise NoAnswer(f"Your function returned a whole number of about {round(bits * 0.301)} digits.")
            return int(value)
        if isinstance(value, float):
            return float(value)
        if isinstance(value, str):
            self.count(0, len(value))
            return value.encode("utf-8", "replace").decode()
        if isinstance(value, bytes | bytearray):
            self.count(0, len(value))
            return bytes(value)
        name = type(value).__name__
        way = "return list(...) of it" if hasattr(type(value), "__iter__") else KNOWN
        way = WAYS.get(name, way)
        raise NoAnswer(f"Your function returned an object of type {name[:60]}, which is no answer; {way}.")

    def count(self, values: int, size: int) -> None:
        """Tell of what is too large before it is copied."""
        self.values, self.bytes = self.values + values, self.bytes + size
        if self.values > 2 * VALUES:
            raise NoAnswer(f"Your function returned more than {VALUES:,} single values; no answer has so many.")
        if self.bytes > MOST // 2:
            raise NoAnswer(f"Your function returned {self.bytes / 1e6:,.1f} MB or more; no answer is so large.")
