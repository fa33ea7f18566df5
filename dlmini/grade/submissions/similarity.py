"""Which submissions look alike: a hint for a reader, nothing more.

What two programs share is measured against the shorter one, after what the exercise itself contains has been taken out.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dlmini.grade.reading.fingerprints import fingerprints
from dlmini.grade.submissions.collect import Submission

LEAST = 30  # fingerprints below which two programs say too little to be compared


class Pair(NamedTuple):
    one: str
    other: str
    share: float


def similar(submissions: list[Submission], common: str = "", least: float = 0.8, most: int = 50) -> list[Pair]:
    """Pairs with at least this share of fingerprints in common, the most alike first. `common`: what all were given."""
    given = Counter(fingerprints(common))
    own = {s.name: np.array(sorted(Counter(s.prints.tolist()) - given), np.uint64) for s in submissions}
    long = sorted(name for name, prints in own.items() if len(prints) >= LEAST)
    found = [Pair(a, b, shared(own[a], own[b])) for a, b in combinations(long, 2)]
    return sorted((p for p in found if p.share >= least), key=lambda p: (-p.share, p.one, p.other))[:most]


def shared(a: np.ndarray, b: np.ndarray) -> float:
    return len(np.intersect1d(a, b, assume_unique=True)) / min(len(a), len(b))
