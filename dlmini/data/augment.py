"""Flips and turns: a picture from above is as good upside down, so one picture serves as eight."""

from __future__ import annotations

import numpy as np

from dlmini.checks import piece
from dlmini.data.batching import Batch
from dlmini.data.chance import TURNS, generator


def turned(batch: Batch) -> Batch:
    """The batch, each picture flipped or turned at random together with its mask, in the batch's own memory.

        k ~ one of the 8 ways to lay a square on itself        (4 of them for other rectangles)
    The numbers come from the batch's key, (seed, rank, epoch, index), and from nothing else. Labels of whole pictures
    stay as they are.
    """
    piece(batch, "batch", ("x", "y", "key"), "a Batch, such as batches gives")
    if batch.x.ndim != 4:
        raise ValueError(f"batch has rows of shape {batch.x.shape[1:]}; only pictures can be turned")
    square, draw = batch.x.shape[1] == batch.x.shape[2], generator(*batch.key, TURNS)
    ways = draw.integers(8, size=len(batch.x)) if square else 2 * draw.integers(4, size=len(batch.x))
    for i, way in enumerate(ways):
        for pixels in (batch.x, batch.y) if batch.y.ndim == 3 else (batch.x,):
            pixels[i] = laid(pixels[i], int(way)).copy()
    return batch


def laid(pixels: np.ndarray, way: int) -> np.ndarray:
    """A picture in one of eight ways: way % 4 quarter turns, and from 4 on mirrored as well. 0 leaves it as it is."""
    turned = np.rot90(pixels, way % 4)
    return turned[:, ::-1] if way >= 4 else turned
