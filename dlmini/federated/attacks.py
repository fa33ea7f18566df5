"""What liars send. An attack sees the honest updates (a matrix), and gives the update that all f liars send.

    lie = attack(honest, f)        honest: one row per honest client
Liars know everything and act together: the worst case. `LabelFlip` alone lies to itself: it changes what a client
learns from, not what it sends, and so has nothing to do with a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from dlmini.checks import real, settle, whole


@dataclass(frozen=True)
class SignFlip:
    """The opposite, `scale` times as large."""

    scale: float = 1.0

    def __post_init__(self):
        settle(self, scale=real(self.scale, "scale", above=0))

    def __call__(self, honest: np.ndarray, f: int) -> np.ndarray:
        return -self.scale * honest.mean(axis=0)


@dataclass(frozen=True)
class InnerProduct:
    """A little of the opposite: near enough to be chosen, and uphill.  -eps mean.  Xie et al., UAI 2019."""

    eps: float = 0.5

    def __post_init__(self):
        settle(self, eps=real(self.eps, "eps", above=0))

    def __call__(self, honest, f):
        return -self.eps * honest.mean(axis=0)


@dataclass(frozen=True)
class Alie:
    """A little is enough: inside the spread of the honest ones.  mean - z std,  Baruch et al., NeurIPS 2019.

        z = Phi^-1((n - f - s) / (n - f)),   s = floor(n/2 + 1) - f
    s honest clients further out make a majority with the f liars, and honest are n - f: so the proceedings have it
    (Algorithm 3); their first preprint had (n - s) / n. For two liars of an even n, or one, it is 0, and the lie
    is the honest mean: they are too few to hide. The authors' own program takes 1.5 with 12 of 51. z: 0 takes
    the formula.
    """

    z: float = 0.0

    def __post_init__(self):
        settle(self, z=real(self.z, "z", least=0))

    def __call__(self, honest, f):
        z = self.z or hidden(len(honest) + f, f)
        return honest.mean(axis=0) - z * honest.std(axis=0)


def hidden(n: int, f: int) -> float:
    """How many standard deviations f liars of n may go out, and still have a majority that goes as far."""
    honest, further = n - f, max(1, n // 2 + 1 - f)  # a majority of liars stays within the honest ones, too
    return NormalDist().inv_cdf(max(0.5, (honest - further) / honest))


@dataclass(frozen=True)
class Mimic:
    """Say what one honest client says: no lie can be seen, but its data count f + 1 times. Karimireddy et al., 2022."""

    client: int = 0

    def __post_init__(self):
        settle(self, client=whole(self.client, "client", 0))

    def __call__(self, honest, f):
        return honest[self.client % len(honest)].copy()


@dataclass(frozen=True)
class LabelFlip:
    """Learn honestly from wrong labels: k becomes classes - 1 - k."""

    def __call__(self, honest, f):
        raise TypeError("LabelFlip changes what a client learns from, not what it sends: give it to a Federation")


ATTACKS = (SignFlip, InnerProduct, Alie, Mimic, LabelFlip)


def flipped(labels: np.ndarray, classes: int) -> np.ndarray:
    """k becomes classes - 1 - k."""
    return classes - 1 - labels


def attacked(honest: np.ndarray, attack, f: int) -> np.ndarray:
    """What the server receives: the honest rows, then f times the lie."""
    if not f:
        return honest
    lie = np.asarray(attack(honest, f), honest.dtype)
    return np.concatenate([honest, np.tile(lie, (f, 1))])


def lied(answers: list, liars: frozenset[int], attack) -> list:
    """The answers of a round, those of liars replaced by the lie. If all lie, they begin with what they have."""
    lying = [answer.client in liars for answer in answers]
    if not any(lying) or isinstance(attack, LabelFlip):
        return answers
    known = [answer.change for answer, lies in zip(answers, lying, strict=True) if not lies]
    lie = attack(np.array(known or [answer.change for answer in answers]), sum(lying))
    lie = np.asarray(lie, answers[0].change.dtype)
    return [answer._replace(change=lie) if lies else answer for answer, lies in zip(answers, lying, strict=True)]
