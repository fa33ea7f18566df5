"""What a server does in place of the mean, when f of n clients may lie.

    rule(updates) -> one update          updates: a matrix, one row per client
Every rule has an inequality between n and f; with fewer clients it promises nothing, and refuses:

    Mean               f = 0           one liar moves it anywhere
    Median             n >= 2f + 1     per coordinate                                       Yin et al., ICML 2018
    TrimmedMean        n >= 2f + 1     per coordinate, without the f largest and smallest   Yin et al., ICML 2018
    Krum, MultiKrum    n >= 2f + 3     the update with the nearest neighbours               Blanchard et al., NIPS 2017
    Bulyan             n >= 4f + 3     Krum n - 2f times, then near the median              El Mhamdi et al., ICML 2018
    GeometricMedian    n >= 2f + 1     least sum of distances                               Pillutla et al., 2019
    CentredClipping    n >= 2f + 1     pulls of limited length                              Karimireddy et al., 2021
Distances between honest clients with different data are as large as lies: then rules that pick fail, and `Bucketing`
before them helps (Karimireddy et al., ICLR 2022): it needs the inequality for n/s buckets, rounded up, of which f may
be bad. MultiKrum with m given needs n >= m + f too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dlmini.checks import numbers, piece, real, settle, whole

GROUPS = 37  # purpose of random numbers


def matrix(updates) -> np.ndarray:
    """The updates, if they are a matrix of finite floats."""
    updates = np.asarray(updates)
    if updates.ndim != 2 or not updates.size or updates.dtype.kind != "f":
        numbers(updates, "updates", 2, "a matrix of floats, one row per client")
    if not np.isfinite(updates).all():
        raise ValueError("updates hold NaN or infinity; leave out such clients before they are combined")
    return updates


class Rule:
    """f: how many clients may lie."""

    f: int = 0

    def __post_init__(self):
        settle(self, f=whole(self.f, "f", 0, hint="clients that may lie"))

    def least(self, f: int) -> int:
        """The fewest clients among which f liars are borne."""
        return 2 * f + 1

    def __call__(self, updates: np.ndarray) -> np.ndarray:
        updates = matrix(updates)
        if len(updates) < (least := self.least(self.f)):
            raise ValueError(
                f"{type(self).__name__} needs n >= {self.inequality} clients: {least} for f = {self.f} liars, and "
                f"there are {len(updates)}; ask more clients, or fear fewer liars"
            )
        return self.combine(updates)

    inequality = "2f + 1"


@dataclass(frozen=True)
class Mean(Rule):
    """Plain, and anybody's to move."""

    inequality = "1"

    def least(self, f):
        return 1

    def combine(self, updates):
        return updates.mean(axis=0, dtype=np.float64).astype(updates.dtype)


@dataclass(frozen=True)
class Median(Rule):
    """The middle of each coordinate. Cost: O(n d log n)."""

    f: int = 0

    def combine(self, updates):
        return np.median(updates, axis=0).astype(updates.dtype)


@dataclass(frozen=True)
class TrimmedMean(Rule):
    """Of each coordinate the mean without its f largest and f smallest values."""

    f: int = 1

    def combine(self, updates):
        kept = np.sort(updates, axis=0)[self.f : len(updates) - self.f]
        return kept.mean(axis=0, dtype=np.float64).astype(updates.dtype)


def squared_distances(updates: np.ndarray) -> np.ndarray:
    """|x_i - x_j|^2 of all pairs, in float64. Cost: n^2 d."""
    x = updates.astype(np.float64)
    return np.array([((x - row) ** 2).sum(axis=1) for row in x])


def krum_scores(distances: np.ndarray, f: int) -> np.ndarray:
    """score_i = sum of the squared distances to the n - f - 2 nearest others."""
    n = len(distances)
    others = np.sort(distances + np.diag(np.full(n, np.inf)), axis=1)
    return others[:, : max(1, n - f - 2)].sum(axis=1)


@dataclass(frozen=True)
class Krum(Rule):
    """The one update whose n - f - 2 nearest neighbours are nearest. The first wins a tie."""

    f: int = 1
    inequality = "2f + 3"

    def least(self, f):
        return 2 * f + 3

    def combine(self, updates):
        return updates[np.argmin(krum_scores(squared_distances(updates), self.f))].copy()


@dataclass(frozen=True)
class MultiKrum(Rule):
    """The mean of the m updates with the best scores; 0: of n - f."""

    f: int = 1
    m: int = 0

    def __post_init__(self):
        super().__post_init__()
        settle(self, m=whole(self.m, "m", 0, hint="updates that are averaged; 0: n - f"))

    @property
    def inequality(self):
        return "2f + 3" if self.m <= self.f + 3 else "m + f"

    def least(self, f):
        return max(2 * f + 3, self.m + f)

    def combine(self, updates):
        best = np.argsort(krum_scores(squared_distances(updates), self.f), kind="stable")
        chosen = np.sort(best[: self.m or len(updates) - self.f])
        return updates[chosen].mean(axis=0, dtype=np.float64).astype(updates.dtype)


@dataclass(frozen=True)
class Bulyan(Rule):
    """Krum n - 2f times, then of each coordinate the mean of the n - 4f chosen values nearest their median.

    The inner rounds: each takes the Krum winner among those left, out of the pool; with r left its score sums the
    max(1, r - f - 2) nearest. The last rounds have fewer than 2f + 3 left, where Krum promises nothing by itself:
    Bulyan's promise rests on the median of the chosen, of whom at most f are liars.
    """

    f: int = 1
    inequality = "4f + 3"

    def least(self, f):
        return 4 * f + 3

    def combine(self, updates):
        chosen = np.sort(updates[self.select(squared_distances(updates))], axis=0)
        middle = np.median(chosen, axis=0)
        order = np.argsort(np.abs(chosen - middle), axis=0, kind="stable")[: len(updates) - 4 * self.f]
        return np.take_along_axis(chosen, order, axis=0).mean(axis=0, dtype=np.float64).astype(updates.dtype)

    def select(self, distances: np.ndarray) -> list[int]:
        left, chosen = list(range(len(distances))), []
        for _ in range(len(distances) - 2 * self.f):
            scores = krum_scores(distances[np.ix_(left, left)], self.f) if len(left) > 1 else [0.0]
            chosen.append(left.pop(int(np.argmin(scores))))
        return chosen


@dataclass(frozen=True)
class GeometricMedian(Rule):
    """The point with the least sum of distances d_i = |x_i - z|, by Weiszfeld's steps.

        z = sum(x_i / d_i) / sum(1 / d_i)
    On one of the points d is 0. There the pull R of all others, sum (x_i - z) / d_i, decides: if it is no longer than
    the number k of points here, this is the answer; if it is, the step is made by the others, shortened by 1 - k / |R|
    (Vardi and Zhang, PNAS 2000). Without that the steps would stay where they began whenever the first guess, the
    median of each coordinate, is one of the points. eps: how near is on it, as a share of the largest distance.
    """

    f: int = 0
    steps: int = 200
    eps: float = 1e-9

    def __post_init__(self):
        super().__post_init__()
        settle(self, steps=whole(self.steps, "steps", 1), eps=real(self.eps, "eps", above=0))

    def combine(self, updates):
        x = updates.astype(np.float64)
        z = np.median(x, axis=0)
        for _ in range(self.steps):
            z, before = self.step(x, z), z
            if np.array_equal(z, before):
                break
        nearest = x[np.argmin(np.linalg.norm(x - z, axis=1))]  # towards a point the steps become very small
        return min((z, nearest), key=lambda point: np.linalg.norm(x - point, axis=1).sum()).astype(updates.dtype)

    def step(self, x: np.ndarray, z: np.ndarray) -> np.ndarray:
        distance = np.linalg.norm(x - z, axis=1)
        away = distance > self.eps * distance.max()
        here = len(x) - away.sum()
        if not away.any():
            return z
        weight = 1 / distance[away]
        pull = weight @ (x[away] - z)
        length = np.linalg.norm(pull)
        return z + max(0.0, 1 - here / length) * pull / weight.sum() if length else z


@dataclass(frozen=True)
class CentredClipping(Rule):
    """From a centre, the mean of pulls no longer than tau:  v += mean((x_i - v) min(1, tau / |x_i - v|)).

    The centre begins at the coordinate-wise median; the authors begin at the last round's result.
    """

    f: int = 0
    tau: float = 1.0
    steps: int = 5

    def __post_init__(self):
        super().__post_init__()
        settle(self, tau=real(self.tau, "tau", above=0), steps=whole(self.steps, "steps", 1))

    def combine(self, updates):
        x = updates.astype(np.float64)
        v = np.median(x, axis=0)
        for _ in range(self.steps):
            pull = x - v
            length = np.maximum(np.linalg.norm(pull, axis=1, keepdims=True), 1e-300)
            v = v + (pull * np.minimum(1, self.tau / length)).mean(axis=0)
        return v.astype(updates.dtype)


@dataclass(frozen=True)
class Bucketing(Rule):
    """The means of random groups of s, then a rule on them: honest groups resemble each other more than clients do.

    Every round groups anew (`at(t)`): a liar who knew its neighbours could act with them.
    """

    rule: Rule = Krum()
    s: int = 2
    seed: int = 0
    t: int = 0

    def __post_init__(self):
        piece(self.rule, "rule", ("combine", "least"), "a rule, such as Krum(f=1)")
        settle(self, s=whole(self.s, "s", 1), seed=whole(self.seed, "seed", 0), t=whole(self.t, "t", 0))

    def at(self, t: int) -> Bucketing:
        return replace(self, t=t)

    @property
    def f(self):
        return self.rule.f

    @property
    def inequality(self):
        return f"s ({self.rule.inequality} - 1) + 1"

    def least(self, f):
        return self.s * (self.rule.least(f) - 1) + 1

    def combine(self, updates):
        order = np.random.default_rng([self.seed, 0, self.t, GROUPS]).permutation(len(updates))
        groups = [order[k : k + self.s] for k in range(0, len(order), self.s)]
        means = [updates[group].mean(axis=0, dtype=np.float64) for group in groups]
        return self.rule(np.array(means).astype(updates.dtype))


RULES = (Mean, Median, TrimmedMean, Krum, MultiKrum, Bulyan, GeometricMedian, CentredClipping)
