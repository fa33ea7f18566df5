"""Mistakes that lesson 04 speaks of: which chunk is this, whose vectors are in it, and where does it stand?"""

from __future__ import annotations

from itertools import product

import numpy as np

from dlmini.comm.schedules import cut
from dlmini.grade.expect import strip
from dlmini.grade.lesson import Wrong


def chunk(x, c: int, size: int):
    edges = cut(len(x), size).tolist()
    return x[edges[c] : edges[c + 1]]


def name_chunk(value, mine: int, case, who: str) -> None:
    """Which chunk is this, and whose vectors are in it?"""
    for c in [mine, *range(case.size)]:
        parts = [chunk(x, c, case.size) for (x,) in case.args]
        if c == mine:
            name_parts(parts, value, f"{who}, chunk {c}")
        elif all_in(parts, value) and len(value):
            raise Wrong(f"{who} returned chunk {c} of the sum, expected chunk {mine}.")
        elif counted(parts, value):
            raise Wrong(f"{who} returned chunk {c}, in which not all vectors are, expected chunk {mine}.")


def name_parts(parts: list, value, who: str) -> None:
    """If this is a sum of the vectors, with some of them missing or counted twice, say so; or if it is a mean."""
    size, counts = len(parts), counted(parts, value)
    if counts is None and all_in(parts, np.multiply(value, size)):
        raise Wrong(f"{who}: this is a mean, a sum was asked for.")
    if counts is None or counts == (1,) * size:
        return
    missing, double = ([r for r in range(size) if counts[r] == k] for k in (0, 2))
    if sum(counts) == 1:
        raise Wrong(
            f"{who}: only the vector of rank {counts.index(1)} is in it; what comes must be added to one's own."
        )
    if missing:
        raise Wrong(f"{who}: the vectors of ranks {missing} are missing in the sum.")
    raise Wrong(f"{who}: the vectors of ranks {double} are counted twice.")


def counted(parts: list, value) -> tuple[int, ...] | None:
    """How often (0, 1 or 2 times) each of the vectors is in this sum. One or two numbers would fit by chance."""
    if value.shape != parts[0].shape or value.size < 3 or not value.any() or len(parts) > 8:
        return None
    every = np.array(list(product((1, 0, 2), repeat=len(parts))))
    fits = (every @ np.array(parts, "f8") == value).all(axis=1)
    return tuple(every[fits.argmax()].tolist()) if fits.any() else None


def all_in(parts: list, value) -> bool:
    return value.shape == parts[0].shape and bool((sum(parts) == value).all())


def name_places(value, case, who: str) -> None:
    """Which chunk stands at a wrong place, or else: which place holds none?"""
    chunks, stand = ([chunk(x, c, case.size) for c in range(case.size)] for x in (case.truth, value))
    cells = [bool(np.array_equal(*pair)) for pair in zip(stand, chunks, strict=True)]
    wrong = [place for place, ok in enumerate(cells) if not ok]
    for place in wrong:
        for c, other in enumerate(chunks):
            if np.array_equal(stand[place], other):
                raise Wrong(f"{who}: chunk {c} went where chunk {place} belongs.", strip(cells), cells)
    if wrong:
        raise Wrong(f"{who}: chunk {wrong[0]} has not come, or was sent on before it had come.", strip(cells), cells)
