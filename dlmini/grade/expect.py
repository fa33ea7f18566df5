"""Comparing what was found with the truth, and saying what is wrong in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from dlmini.comm.schedules import cut
from dlmini.grade.lesson import Wrong

SHOWN = 4  # wrong places that are named


def close(found, truth: np.ndarray, who: str, terms: int = 1, parts: int = 0) -> None:
    """Equal up to rounding: sums of `terms` numbers may be added in any order. parts: how many chunks to draw.

    |error| <= 4 terms eps max(1, |truth|): twice the bound of recursive summation with a second rounding (Higham,
    Accuracy and Stability of Numerical Algorithms, 2002, section 4.2), for summands of about the size of the truth.
    """
    array(found, truth, who)
    eps = np.finfo(truth.dtype).eps if truth.dtype.kind in "fc" else 0.0
    bound = 4 * terms * eps * max(1.0, float(np.abs(truth).max(initial=0.0)))
    with np.errstate(invalid="ignore", over="ignore"):
        good = np.abs(found - truth) <= bound
    _all(good | (found == truth), found, truth, who, parts)


def named(found, truth, who: str, mistakes: Mapping[str, object]) -> None:
    """If this is what a well-known mistake gives, call it by its name. mistakes: sentence -> what it would give.

    If several give the same, any of them may have been made, and all are named. A mistake that makes no difference
    here (a stride of 1 ignored) is none.
    """
    made = [sentence for sentence, wrong in mistakes.items() if alike(found, wrong) and not alike(wrong, truth)]
    if made and not alike(found, truth):
        raise Wrong(f"{who}: {'; or '.join(made)}.", mistakes=tuple(made))


def alike(found, value) -> bool:
    """Numbers, arrays, or tuples and lists of them that agree up to rounding."""
    if isinstance(value, tuple | list):
        return isinstance(found, tuple | list) and len(found) == len(value) and all(map(alike, found, value))
    if np.iscomplexobj(found):
        return False
    try:
        found, value = np.asarray(found, "f8"), np.asarray(value, "f8")
    except (TypeError, ValueError):
        return False
    return found.shape == value.shape and np.allclose(found, value, rtol=1e-5, atol=1e-7, equal_nan=True)


def same(found, truth: np.ndarray, who: str, parts: int = 0) -> None:
    """Equal to the bit."""
    array(found, truth, who)
    _all(found == truth, found, truth, who, parts)


def same_bits(found: np.ndarray, other: np.ndarray, rank: int) -> None:
    """Rank `rank` holds what rank 0 holds: right up to rounding is not enough where replicas must not drift apart."""
    if not np.array_equal(found, other):
        count = int((found != other).sum())
        raise Wrong(f"rank {rank} and rank 0 differ in the last bits of {count} numbers; all must hold the very same.")


def array(found, truth: np.ndarray, who: str) -> None:
    """An array of this shape and type."""
    if not isinstance(found, np.ndarray):
        raise Wrong(f"{who}: found {short(found)}, expected an array of shape {truth.shape}.")
    if found.shape != truth.shape:
        raise Wrong(f"{who}: the array has shape {found.shape}, expected {truth.shape}.")
    if found.dtype != truth.dtype:
        raise Wrong(f"{who}: the array holds {found.dtype}, expected {truth.dtype}.")


def number(found, truth: float, who: str, relative: float = 1e-9) -> None:
    if isinstance(found, bool) or not isinstance(found, int | float | np.number):
        raise Wrong(f"{who}: found {short(found)}, expected a number.")
    if np.iscomplexobj(found):
        raise Wrong(f"{who}: found the complex number {complex(found):.4g}, expected a real one.")
    if not abs(float(found) - truth) <= relative * max(abs(truth), 1e-300):
        raise Wrong("{}: found {}, expected {}.".format(who, *apart(float(found), truth)))


def whole(found, truth: int, who: str) -> None:
    if isinstance(found, bool) or not isinstance(found, int | np.integer) or int(found) != truth:
        raise Wrong(f"{who}: found {short(found)}, expected {truth}.")


def nothing(found, who: str) -> None:
    if found is not None:
        raise Wrong(f"{who}: found {short(found)}, expected None.")


def short(value) -> str:
    """A value in a few words."""
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{type(value).__name__} {text[:50]}..."


def apart(found, truth) -> tuple[str, str]:
    """Two numbers with as many digits as tell them apart."""
    for digits in (6, 9, 12, 17):
        said = f"{found:.{digits}g}", f"{truth:.{digits}g}"
        if said[0] != said[1]:
            break
    return said


def _all(good: np.ndarray, found: np.ndarray, truth: np.ndarray, who: str, parts: int) -> None:
    if good.all():
        return
    places = np.argwhere(~good)
    named = ", ".join(
        "[{}] is {}, not {}".format(", ".join(map(str, p)), *apart(found[tuple(p)], truth[tuple(p)]))
        for p in places[:SHOWN]
    )
    cells = chunks(good, parts) if parts else None
    raise Wrong(
        f"{who}: {len(places)} of {truth.size} numbers are wrong: {named}{' ...' if len(places) > SHOWN else ''}",
        strip(cells),
        cells,
    )


def chunks(good: np.ndarray, parts: int) -> list[bool]:
    """Which chunks are right."""
    edges = cut(len(good), parts).tolist()
    return [bool(good[a:b].all()) for a, b in pairwise(edges)]


def strip(cells: list[bool] | None) -> str:
    """The chunks as a row of text: which are right."""
    return (
        "" if cells is None else "chunks  " + "  ".join(f"{c}:{'ok' if ok else 'WRONG'}" for c, ok in enumerate(cells))
    )
