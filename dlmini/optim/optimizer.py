"""What all optimisers share: a rate, weight decay, a short name for legends, and `start`."""

from dataclasses import fields
from typing import ClassVar

import numpy as np

from dlmini.checks import float_type, real, refuse, settle, whole
from dlmini.optim.schedules import checked, rate_at
from dlmini.optim.stepper import Stepper


class Optimizer:
    """An immutable description; `start` makes the memory.

    An optimiser names its formula (in `plain.py` and `kernels.py`), the vectors it remembers, and the `numbers` of
    the formula at step t. Weight decay is L2, the gradient of loss + weight_decay/2 |w|^2, unless said otherwise.
    """

    remembers: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self):
        settle(self, rate=checked(self.rate), weight_decay=real(self.weight_decay, "weight_decay", least=0))

    def start(self, size: int, dtype=np.float32) -> Stepper:
        """Fresh memory for a vector of `size` numbers."""
        size = whole(size, "size", 0, hint="the length of the weight vector, w.size")
        return Stepper(self, size, float_type(dtype))

    def rate_at(self, t: int) -> float:
        return rate_at(self.rate, t)

    def __repr__(self):
        """As one would type it: what equals its default is left out."""
        given = [repr(self.rate)]
        given += [f"{f.name}={getattr(self, f.name)!r}" for f in fields(self)[1:] if getattr(self, f.name) != f.default]
        return f"{type(self).__name__}({', '.join(given)})"


def kept(value, name: str) -> float:
    """The share of the past that is kept."""
    hint = "the share of the past that is kept, below 1 in float32 too"
    value = real(value, name, least=0, below=1, hint=hint)
    return value if np.float32(value) < 1 else refuse(ValueError, name, value, hint)


def epsilon(eps) -> float:
    """Where all gradients so far were zero it alone stands between the step and 0/0."""
    eps = real(eps, "eps", above=0)
    return eps if 0 < np.float32(eps) < np.inf else refuse(ValueError, "eps", eps, "above 0 and finite in float32 too")
