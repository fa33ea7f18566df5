"""Learning rates that change: a schedule maps the number t of the step (0, 1, 2, ...) to a rate.

Any function t -> rate will do as `rate` of an optimiser. These are dataclasses, so that they can be pickled and
tell in a plot's legend what they are; they are used like functions and spelled like them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real

Rate = float | Callable[[int], float]


def check_rate(rate, name: str = "rate") -> float:
    if not isinstance(rate, Real):
        raise TypeError(f"{name} is {rate!r}; a number is needed here")
    if not 0 <= rate < math.inf:
        raise ValueError(f"{name} is {rate!r}; it must be finite, and zero or more")
    return float(rate)


def check_count(count, name: str) -> None:
    if not isinstance(count, Integral) or count < 1:
        raise ValueError(f"{name} is {count!r}; it counts steps, so it must be a whole number of at least 1")


def rate_at(rate: Rate, t: int) -> float:
    """What a fixed or scheduled rate is at step t."""
    return check_rate(rate(t), f"the scheduled rate at t={t}") if callable(rate) else rate


@dataclass(frozen=True)
class constant:
    """The same rate for ever; as an optimiser's rate it is the same as the bare number."""

    rate: float

    def __post_init__(self):
        check_rate(self.rate)

    def __call__(self, t: int) -> float:
        return self.rate


@dataclass(frozen=True)
class staircase:
    """Multiply by a factor now and then:  rate * factor^floor(t / every)."""

    rate: float
    every: int
    factor: float = 0.1

    def __post_init__(self):
        check_rate(self.rate)
        check_count(self.every, "every")
        check_rate(self.factor, "factor")

    def __call__(self, t: int) -> float:
        return self.rate * self.factor ** (t // self.every)


@dataclass(frozen=True)
class cosine:
    """Glide down along half a cosine, then stay on the floor.

        floor + (rate - floor) (1 + cos(pi t / rounds)) / 2     for t <= rounds
    Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, ICLR 2017 (without the restarts).
    """

    rate: float
    rounds: int
    floor: float = 0.0

    def __post_init__(self):
        check_rate(self.rate)
        check_count(self.rounds, "rounds")
        if check_rate(self.floor, "floor") > self.rate:
            raise ValueError(f"floor={self.floor} lies above rate={self.rate}; cosine only comes down: swap them")

    def __call__(self, t: int) -> float:
        done = min(t, self.rounds) / self.rounds
        return self.floor + (self.rate - self.floor) * (1 + math.cos(math.pi * done)) / 2


@dataclass(frozen=True)
class warm_up:
    """Ramp up in even steps, then follow another schedule (or a plain number).

        (t + 1) / rounds * schedule(t)     for t < rounds
    The schedule within counts the same t: warming up does not postpone it. The first step is small but not nothing.
    Goyal et al., Accurate, large minibatch SGD: training ImageNet in 1 hour, 2017, section 2.2.
    """

    schedule: Rate
    rounds: int

    def __post_init__(self):
        check_count(self.rounds, "rounds")
        if not callable(self.schedule):
            check_rate(self.schedule, "schedule")

    def __call__(self, t: int) -> float:
        return min(1.0, (t + 1) / self.rounds) * rate_at(self.schedule, t)
