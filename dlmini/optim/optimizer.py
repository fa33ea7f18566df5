"""What all optimisers share: a rate, weight decay, a short name for legends, and `start`."""

from dataclasses import fields
from numbers import Integral, Real
from typing import ClassVar

import numpy as np

from dlmini.optim.schedules import check_rate, rate_at
from dlmini.optim.stepper import Stepper


class Optimizer:
    """An immutable description; `start` makes the memory.

    An optimiser names its formula (in `plain.py` and `kernels.py`), the vectors it remembers, and the `numbers` of
    the formula at step t. Weight decay is L2, the gradient of loss + weight_decay/2 |w|^2, unless said otherwise.
    """

    remembers: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self):
        if not callable(self.rate):
            check_rate(self.rate)
        check_rate(self.weight_decay, "weight_decay")

    def start(self, size: int, dtype=np.float32) -> Stepper:
        """Fresh memory for a vector of `size` numbers."""
        if not isinstance(size, Integral) or size < 0:
            raise ValueError(f"size is {size!r}; it is the length of the weight vector, for example w.size")
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise TypeError(f"dtype is {np.dtype(dtype)}; optimisers work in float32, or in float64 to check a formula")
        return Stepper(self, int(size), dtype)

    def rate_at(self, t: int) -> float:
        return rate_at(self.rate, t)

    def __repr__(self):
        """As one would type it: what equals its default is left out."""
        given = [repr(self.rate)]
        given += [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self)[1:] if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(given)})"


def check_fraction(value, name: str) -> None:
    if not isinstance(value, Real) or not 0 <= np.float32(value) < 1:
        raise ValueError(
            f"{name} is {value!r}; it is the share of the past that is kept: a number in [0, 1), in float32"
        )


def check_eps(eps) -> None:
    if not isinstance(eps, Real) or not np.float32(eps) > 0:
        raise ValueError(
            f"eps is {eps!r}; it must be a positive number, in float32 too: "
            "where all gradients so far were zero it alone stands between the step and 0/0"
        )
