"""Arrays that weigh but hold nothing: shape and dtype travel and cost, arithmetic is free.

A program written for arrays runs with ghosts unchanged, for models that fit in no memory: `Ghost(175_000_000_000)`.
Shapes and dtypes follow NumPy's own rules: slices, broadcasting, promotion, matrix products, reductions.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dlmini.checks import LARGEST, whole


class Ghost(NDArrayOperatorsMixin):
    """An array without numbers."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape, dtype="f4"):
        lengths = shape if isinstance(shape, list | tuple | np.ndarray) else (shape,)
        plain = all(type(n) is int and 0 <= n <= LARGEST for n in lengths)  # quick: simulations make many
        self.shape = tuple(lengths if plain else (whole(n, "a length in a ghost's shape", 0) for n in lengths))
        self.dtype = np.dtype(dtype)

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: prod(self.shape))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.dtype.itemsize)
    T = property(lambda self: Ghost(self.shape[::-1], self.dtype))

    def __repr__(self) -> str:
        return f"Ghost({self.shape}, {self.dtype.str!r})"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a ghost without dimensions")
        return self.shape[0]

    def __array__(self, *_, **__):
        raise TypeError(f"{self!r} holds no numbers, and this operation needs some")

    def _shadow(self) -> np.ndarray:
        """A real array of this shape in the memory of one number: NumPy works out slices on it."""
        return np.broadcast_to(np.zeros((), self.dtype), self.shape)

    def __getitem__(self, key) -> Ghost:
        return Ghost(np.shape(self._shadow()[key]), self.dtype)

    def __setitem__(self, key, value) -> None:
        here, there = np.shape(self._shadow()[key]), np.shape(value)
        if np.broadcast_shapes(here, there) != here:
            raise ValueError(f"could not broadcast shape {there} into shape {here}")

    def copy(self) -> Ghost:
        return Ghost(self.shape, self.dtype)

    def astype(self, dtype) -> Ghost:
        return Ghost(self.shape, dtype)

    def reshape(self, *shape) -> Ghost:
        return Ghost(np.empty(self.shape, "V0").reshape(*shape).shape, self.dtype)

    def ravel(self) -> Ghost:
        return self.reshape(-1)

    def sum(self, axis=None, keepdims: bool = False) -> Ghost:
        return np.add.reduce(self, axis=axis, keepdims=keepdims)

    def max(self, axis=None, keepdims: bool = False) -> Ghost:
        return np.maximum.reduce(self, axis=axis, keepdims=keepdims)

    def mean(self, axis=None, keepdims: bool = False) -> Ghost:
        return self.sum(axis, keepdims) / 1.0

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **options):
        if method == "reduce":
            found = Ghost(reduced(inputs[0].shape, **options), ufunc.reduce(np.ones(1, inputs[0].dtype)).dtype)
        elif method == "__call__":
            shapes = map(np.shape, inputs)
            kinds = [type(x) if type(x) in (int, float, complex) else getattr(x, "dtype", None) for x in inputs]
            shape = multiplied(*shapes) if ufunc is np.matmul else np.broadcast_shapes(*shapes)
            found = Ghost(shape, ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))[-1])
        else:
            return NotImplemented
        return out[0] if out else found

    def __array_function__(self, func, types, args, options):
        if func in (np.zeros_like, np.ones_like, np.empty_like):
            return Ghost(self.shape, options.get("dtype") or self.dtype)
        if func is np.shape:
            return args[0].shape
        if func is np.concatenate:
            return joined(*args, **options)
        return NotImplemented


def reduced(shape: tuple[int, ...], axis=0, keepdims: bool = False, **_) -> tuple[int, ...]:
    gone = range(len(shape)) if axis is None else [a % len(shape) for a in np.atleast_1d(axis)]
    return tuple(1 if i in gone else n for i, n in enumerate(shape) if keepdims or i not in gone)


def multiplied(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of a @ b."""
    left, right = (a if len(a) > 1 else (1, *a)), (b if len(b) > 1 else (*b, 1))
    if left[-1] != right[-2]:
        raise ValueError(f"shapes {a} and {b} cannot be multiplied: {left[-1]} is not {right[-2]}")
    return (*np.broadcast_shapes(left[:-2], right[:-2]), *left[-2:-1] * (len(a) > 1), *right[-1:] * (len(b) > 1))


def joined(parts, axis: int = 0) -> Ghost:
    first, axis = parts[0], axis % parts[0].ndim
    length = sum(p.shape[axis] for p in parts)
    return Ghost((*first.shape[:axis], length, *first.shape[axis + 1 :]), np.result_type(*(p.dtype for p in parts)))
