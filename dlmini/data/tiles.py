"""Tiles: small pictures cut from large ones, which need not be of one size."""

from __future__ import annotations

from itertools import product

import numpy as np

from dlmini.checks import piece, whole
from dlmini.data.dataset import Dataset


def cut_tiles(dataset: Dataset, size: int, stride: int | None = None) -> Dataset:
    """Square tiles of `size` pixels from every picture of a set with masks, row by row.

    A tile begins every `stride` pixels (by default `size`: next to each other), and one more at the far edge where the
    last would end before it: every pixel is in at least one tile, and those at the edge may be in two.
    """
    piece(dataset, "dataset", ("x", "y", "classes"), "a Dataset; make one of arrays: Dataset(name, x, y, classes)")
    if dataset.x.ndim != 4 or dataset.y.ndim != 3:
        raise ValueError(f"dataset {dataset!r} has no mask for each picture; tiles are cut from pictures with masks")
    pairs = [pair for x, y in zip(dataset.x, dataset.y, strict=True) for pair in tiles_of(x, y, size, stride)]
    x, y = (np.stack(arrays) for arrays in zip(*pairs, strict=True))
    return Dataset(dataset.name, x, y, dataset.classes)


def tiles_of(image: np.ndarray, mask: np.ndarray, size, stride=None, name: str = "a picture"):
    """The tiles of one picture, and of its mask."""
    rows, columns = (starts(length, size, stride, name) for length in mask.shape)
    boxes = ((slice(r, r + size), slice(c, c + size)) for r, c in product(rows, columns))
    return [(image[box], mask[box]) for box in boxes]


def starts(length: int, size, stride=None, name: str = "a picture") -> list[int]:
    """Where tiles begin along one side."""
    size = whole(size, "size", 1, hint="pixels on a tile's side")
    stride = size if stride is None else whole(stride, "stride", 1, hint="pixels from one tile to the next")
    if size > length:
        raise ValueError(f"size is {size}, but {name} has only {length} pixels on one side; cut smaller tiles")
    found = list(range(0, length - size + 1, stride))
    return found if found[-1] == length - size else [*found, length - size]
