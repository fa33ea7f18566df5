"""What rows, labels and indices must be like. Every refusal says what was found, what was expected, what to do."""

from collections.abc import Iterable
from inspect import signature
from pathlib import Path

import numpy as np

from dlmini.checks import refuse, shown

UNLABELLED = 255  # the label of a pixel whose class nobody has said


def path_of(path) -> Path:
    if not isinstance(path, str | Path) or not str(path):
        refuse(TypeError, "path", path, "the name of a file or folder")
    return Path(path)


def check_x(name: str, x) -> np.ndarray:
    """Images (N, H, W, C) in uint8 or float32, or points (N, D) in float32: not empty, every number finite."""
    if not isinstance(x, np.ndarray):
        raise TypeError(f"{name}: x is a {type(x).__name__}; pass a NumPy array")
    if x.dtype not in (np.uint8, np.float32):
        raise TypeError(
            f"{name}: x has dtype {x.dtype}, expected uint8 (grey levels 0 to 255) or float32; use x.astype(np.float32)"
        )
    if x.ndim != 4 and not (x.ndim == 2 and x.dtype == np.float32):
        raise ValueError(
            f"{name}: x has shape {x.shape} and dtype {x.dtype}, expected images (N, height, width, channels) "
            f"or float32 points (N, D); grey images without a channel axis become images by x[..., None]"
        )
    if x.size == 0:
        raise ValueError(f"{name}: the set is empty (x has shape {x.shape}); give it at least one row")
    return check_finite(name, np.ascontiguousarray(x))


def check_finite(name: str, x: np.ndarray) -> np.ndarray:
    """Not a number in the data becomes not a number in every weight one step later: refuse it here."""
    if x.dtype == np.uint8:
        return x
    broken = np.flatnonzero(~np.isfinite(x.reshape(len(x), -1)).all(axis=1))
    if len(broken):
        raise ValueError(
            f"{name}: x holds NaN or infinity in {len(broken)} of {len(x)} rows, first in row {broken[0]}; "
            f"repair these rows or leave them out"
        )
    return x


def check_y(name: str, y, x: np.ndarray, classes: tuple[str, ...]) -> np.ndarray:
    """One class number for each row (N,), or one for each pixel (N, H, W)."""
    if not isinstance(y, np.ndarray):
        raise TypeError(f"{name}: y is a {type(y).__name__}; pass a NumPy array")
    if not np.issubdtype(y.dtype, np.integer):
        raise TypeError(f"{name}: y has dtype {y.dtype}, expected whole class numbers; use y.astype(np.int64)")
    if y.ndim not in (1, 3):
        raise ValueError(
            f"{name}: y has shape {y.shape}, expected labels (N,) or masks (N, height, width); "
            f"one-hot rows become labels by y.argmax(axis=1)"
        )
    if len(y) != len(x):
        raise ValueError(f"{name}: x has {len(x)} rows but y has {len(y)}; each row needs its own label")
    if y.ndim == 3 and y.shape != x.shape[:3]:
        raise ValueError(f"{name}: masks have shape {y.shape} but images {x.shape}; a mask labels every pixel once")
    return check_range(name, np.ascontiguousarray(y), classes)


def check_range(name: str, y: np.ndarray, classes: tuple[str, ...]) -> np.ndarray:
    """Labels of classes; of pixels also 255, which says that nobody labelled them."""
    if y.min() >= 0 and y.max() < len(classes):
        return y
    strange = (y < 0) | (y >= len(classes))
    if y.ndim == 3:
        strange &= y != UNLABELLED
    if y.ndim == 3 and not strange.any():
        if (y == UNLABELLED).all():
            raise ValueError(f"{name}: no pixel is labelled; give masks with at least one class number")
        return y
    place = tuple(int(i) for i in np.argwhere(strange)[0])
    raise ValueError(
        f"{name}: label {y[place]} in row {place[0]} is out of range: with {len(classes)} classes labels run "
        f"from 0 to {len(classes) - 1}{' (255: not labelled)' * (y.ndim == 3)}; correct the labels or name more classes"
    )


def check_classes(name: str, classes) -> tuple[str, ...]:
    """Names of the classes, each once: label k means classes[k]."""
    row = isinstance(classes, Iterable) and not isinstance(classes, str | np.ndarray)
    classes = tuple(classes) if row else (classes,)
    if not row or not all(isinstance(c, str) for c in classes):
        raise TypeError(f"{name}: classes must be a row of names such as ('cat', 'dog'), not {shown(classes)}")
    if not classes or len(set(classes)) < len(classes):
        raise ValueError(f"{name}: classes must be different names and at least one, not {classes!r}")
    return classes


def check_split(split) -> None:
    """It is called with rows, parts and seed: what else it wants must be known by then."""
    wanted = "a function (rows, parts, seed) such as split_iid"
    if not callable(split) or isinstance(split, type):
        refuse(TypeError, "split", split, wanted)
    try:
        signature(split).bind(None, 1, seed=0)
    except TypeError as error:
        name = getattr(split, "__name__", "split")
        raise TypeError(
            f"split={name} cannot be called with (rows, parts, seed=...): {error}; give the rest beforehand, as in "
            "functools.partial(split_dirichlet, alpha=0.5)"
        ) from error
    except ValueError:
        pass  # a function that does not say what it takes


def check_indices(name: str, indices, n: int) -> np.ndarray:
    """Numbers of rows, each from 0 to n - 1."""
    try:
        rows = np.asarray(indices)
    except ValueError:  # rows of different lengths
        rows = np.empty((0, 0))
    if rows.ndim != 1 or rows.size == 0:
        raise ValueError(f"{name}: row numbers must be a flat list with at least one number, not shape {rows.shape}")
    if not np.issubdtype(rows.dtype, np.integer):
        raise TypeError(f"{name}: row numbers have dtype {rows.dtype}, expected integers; use np.flatnonzero(mask)")
    if rows.min() < 0 or rows.max() >= n:
        raise IndexError(f"{name}: row numbers run from {rows.min()} to {rows.max()}, but rows from 0 to {n - 1}")
    return rows.astype(np.intp, copy=False)
