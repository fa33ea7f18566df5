"""Stochastic gradient descent, alone and with momentum."""

from dataclasses import dataclass

from dlmini.checks import settle
from dlmini.optim.optimizer import Optimizer, kept
from dlmini.optim.schedules import Rate


@dataclass(frozen=True, repr=False)
class SGD(Optimizer):
    """Downhill, in proportion to the slope.

        step = rate (g + weight_decay w)
    Remembers nothing. SGD(1) hands the gradient through unchanged.
    Robbins and Monro, A stochastic approximation method, 1951.
    """

    word = "sgd"
    tried = ({"rate": 0.1},)
    formula = "sgd"
    rate: Rate
    weight_decay: float = 0.0

    def numbers(self, t):
        return self.rate_at(t), self.weight_decay


@dataclass(frozen=True, repr=False)
class Momentum(Optimizer):
    """A heavy ball: slopes that agree add up, slopes that alternate cancel.

        g' = g + weight_decay w;   v = momentum v + g';   step = rate v
    On a constant slope the step grows to rate g / (1 - momentum). The rate stands outside v, so a schedule acts at
    once. Remembers one vector. Polyak, Some methods of speeding up the convergence of iteration methods, 1964.
    """

    word = "momentum"
    tried = ({"rate": 0.1},)
    formula = "momentum"
    remembers = ("velocity",)
    rate: Rate
    momentum: float = 0.9
    weight_decay: float = 0.0

    def __post_init__(self):
        super().__post_init__()
        settle(self, momentum=kept(self.momentum, "momentum"))

    def numbers(self, t):
        return self.rate_at(t), self.momentum, self.weight_decay


@dataclass(frozen=True, repr=False)
class Nesterov(Momentum):
    """Momentum that looks ahead: the slope is taken where the ball is about to be.

        g' = g + weight_decay w;   v = momentum v + g';   step = rate (g' + momentum v)
    The weights held here are the point looked at, so the gradient is always taken at the weights themselves.
    Remembers one vector. DiLoCo's outer optimiser is Nesterov(0.7, momentum=0.9) (Douillard et al., 2023).
    Nesterov 1983; in this form Sutskever et al., On the importance of initialization and momentum, ICML 2013.
    """

    word = "nesterov"
    tried = ({"rate": 0.1},)
    formula = "nesterov"
