"""A mixing matrix of one's own."""

from dataclasses import dataclass

import numpy as np

from dlmini.checks import settle, shown, whole

CLOSE = 1e-6  # how far a sum may be from one: thirds typed as 0.333333 pass, forgotten entries do not


@dataclass(frozen=True, eq=False, repr=False)
class Own:
    """A matrix K, or a function (workers, round) -> K that repeats itself after `period` rounds.

    Rows and columns must sum to one, so that the mean over workers never changes. Negative entries are allowed, as
    the fastest weights of a graph may be (Xiao and Boyd, Fast linear iterations for distributed averaging, 2004).
    But a matrix that enlarges differences, |K - 1/P|_2 > 1, is refused; without negative entries none does.
    """

    K: object
    period: int = 1

    def __post_init__(self):
        if isinstance(self.K, type):
            raise TypeError(f"K is the class {self.K.__name__}; a mixing matrix belongs here, or a function")
        if self.fixed:
            object.__setattr__(self, "K", checked(self.K))
        settle(self, period=whole(self.period, "period", 1, hint="the rounds after which K comes again"))
        if self.fixed and self.period != 1:
            raise ValueError(f"one matrix is the same in every round, so period={self.period} has no meaning")

    @property
    def fixed(self) -> bool:
        """Whether it is the same in every round."""
        return not callable(self.K)

    def __call__(self, size: int, t: int = 0) -> np.ndarray:
        K = self.K if self.fixed else checked(self.K(size, t))
        if len(K) != size:
            raise ValueError(f"{self!r} mixes {len(K)} workers, but there are {size}; give a matrix of {size} x {size}")
        return K

    def __repr__(self) -> str:
        """Short, as befits a legend: the size of the matrix, or the name of the function."""
        return f"Own({f'{len(self.K)} x {len(self.K)}' if self.fixed else getattr(self.K, '__name__', 'function')})"

    def __eq__(self, other) -> bool:
        return isinstance(other, Own) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple:
        return (self.K.tobytes() if self.fixed else self.K), self.period


def checked(K) -> np.ndarray:
    """K as a square of float64 that keeps the mean, or a sentence that says what is wrong with it."""
    try:
        K = np.array(K, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"K is {shown(K)}; a mixing matrix is a square of numbers, such as [[0.5, 0.5], [0.5, 0.5]]"
        ) from error
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise ValueError(f"the mixing matrix K has shape {K.shape}; it must be square: one row and column per worker")
    if not np.isfinite(K).all():
        raise ValueError("the mixing matrix K holds NaN or infinity; all its entries must be finite numbers")
    for axis, name in ((1, "row"), (0, "column")):
        off = np.abs(K.sum(axis) - 1)
        if off.max() > CLOSE:
            i = int(off.argmax())
            raise ValueError(
                f"{name} {i} of this mixing matrix sums to {K.sum(axis)[i]:.6g}, not to 1, so the mean over workers "
                "would change; scale it, or use PushSum for graphs that cannot be balanced"
            )
    growth = np.linalg.norm(K - 1 / len(K), 2)
    if growth > 1 + CLOSE:
        raise ValueError(f"this mixing matrix enlarges differences up to {growth:.3g}-fold; make its entries smaller")
    K.flags.writeable = False
    return K
