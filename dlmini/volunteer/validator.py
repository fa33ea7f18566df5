"""Which of several answers to one unit is believed.

    canonical(answers, quorum, same)
An answer is canonical if it agrees with at least floor(quorum / 2) + 1 answers, itself included. Two ways to agree:
to the bit (`Bitwise`: equal programs on equal processors give equal bits) or nearly (`Close`: on any processor).
Agreement within a tolerance is not transitive: a may be close to b and b to c, and a not to c. So each answer is asked
for its own friends, and the first with enough of them wins; whoever is no friend of the winner's is invalid.
Cost: at most n^2 / 2 comparisons of n answers. Anderson, BOINC, 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dlmini.checks import real, settle
from dlmini.volunteer.unit import NOBODY, Judged


@dataclass(frozen=True)
class Bitwise:
    """Equal bytes; NaN equals the same NaN."""

    word = "bitwise"

    def __call__(self, a: np.ndarray, b: np.ndarray) -> bool:
        return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


@dataclass(frozen=True)
class Close:
    """As near as `tolerance` times the larger of the two, in length:  |a - b| <= tolerance max(|a|, |b|)."""

    word = "close"
    tolerance: float = 1e-3

    def __post_init__(self):
        settle(self, tolerance=real(self.tolerance, "tolerance", least=0))

    def __call__(self, a: np.ndarray, b: np.ndarray) -> bool:
        if a.shape != b.shape:
            return False
        a, b = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
        with np.errstate(over="ignore", invalid="ignore"):
            gap, length = np.linalg.norm(a - b), max(np.linalg.norm(a), np.linalg.norm(b))
        return bool(gap <= self.tolerance * length < np.inf)  # what is no number, or has no length, agrees with nothing


def canonical(answers: Sequence, quorum: int, same: Callable = Bitwise()) -> int | None:
    """The number of the first answer that enough others agree with; None if there is none, or too few answers."""
    if len(answers) < quorum:
        return None
    enough = quorum // 2 + 1
    for k, answer in enumerate(answers):
        if sum(j == k or same(answer, other) for j, other in enumerate(answers)) >= enough:
            return k
    return None


def judge(answers: Mapping[int, np.ndarray], quorum: int, same: Callable = Bitwise()) -> Judged:
    """The verdict on the answers of a unit, by number of copy: who is canonical, and who agrees with it."""
    copies, found = [*answers], canonical([*answers.values()], quorum, same)
    if found is None:
        return Judged(NOBODY)
    agrees = {k: j == found or same(answers[copies[found]], answers[k]) for j, k in enumerate(copies)}
    friends = tuple(k for k in copies if agrees[k])
    return Judged(copies[found], friends, tuple(k for k in copies if not agrees[k]))
