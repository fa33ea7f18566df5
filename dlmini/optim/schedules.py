"""Learning rates that change: a schedule maps the number t of the step (0, 1, 2, ...) to a rate.

Any function t -> rate will do as `rate` of an optimiser. These are dataclasses, so that they can be pickled and
tell in a plot's legend what they are; they are used like functions and spelled like them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from dlmini.checks import real, refuse, settle, whole

Rate = float | Callable[[int], float]


def checked(rate: Rate, name: str = "rate") -> Rate:
    """A number of at least 0, or a function that is asked for one at each step."""
    if isinstance(rate, type):
        refuse(TypeError, name, rate, "a number or a schedule such as cosine(0.1, rounds=100), not its class")
    return rate if callable(rate) else real(rate, name, least=0)


def rate_at(rate: Rate, t: int) -> float:
    """What a fixed or scheduled rate is at step t."""
    return real(rate(t), f"the scheduled rate at t={t}", least=0) if callable(rate) else rate


@dataclass(frozen=True)
class constant:
    """The same rate for ever; as an optimiser's rate it is the same as the bare number."""

    rate: float

    def __post_init__(self):
        settle(self, rate=real(self.rate, "rate", least=0))

    def __call__(self, t: int) -> float:
        return self.rate


@dataclass(frozen=True)
class staircase:
    """Multiply by a factor now and then:  rate * factor^floor(t / every)."""

    rate: float
    every: int
    factor: float = 0.1

    def __post_init__(self):
        settle(self, rate=real(self.rate, "rate", least=0), every=whole(self.every, "every", 1))
        settle(self, factor=real(self.factor, "factor", least=0))

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
        settle(self, rate=real(self.rate, "rate", least=0), rounds=whole(self.rounds, "rounds", 1))
        settle(self, floor=real(self.floor, "floor", least=0))
        if self.floor > self.rate:
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
        settle(self, schedule=checked(self.schedule, "schedule"), rounds=whole(self.rounds, "rounds", 1))

    def __call__(self, t: int) -> float:
        return min(1.0, (t + 1) / self.rounds) * rate_at(self.schedule, t)
