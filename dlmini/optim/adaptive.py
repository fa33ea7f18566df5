"""Optimisers that give each weight a rate of its own."""

import math
from dataclasses import dataclass

from dlmini.checks import settle, truth
from dlmini.optim.optimizer import Optimizer, epsilon, kept
from dlmini.optim.schedules import Rate


@dataclass(frozen=True, repr=False)
class Adagrad(Optimizer):
    """The more a weight has been pushed about, the slower it moves.

        g' = g + weight_decay w;   s = s + g'^2;   step = rate g' / (sqrt(s) + eps)
    Remembers one vector. Downpour keeps s on the servers' shards, with a rate about ten times the best fixed one
    (Dean et al., Large scale distributed deep networks, NIPS 2012).
    Duchi, Hazan and Singer, Adaptive subgradient methods for online learning and stochastic optimization, JMLR 2011.
    """

    word = "adagrad"
    tried = ({"rate": 0.1},)
    formula = "adagrad"
    remembers = ("squares",)
    rate: Rate
    eps: float = 1e-10
    weight_decay: float = 0.0

    def __post_init__(self):
        super().__post_init__()
        settle(self, eps=epsilon(self.eps))

    def numbers(self, t):
        return self.rate_at(t), self.eps, self.weight_decay


@dataclass(frozen=True, repr=False)
class Adam(Optimizer):
    """A mean slope, measured in units of its own spread: steps of about `rate`, whatever the scale of the loss.

        m = beta1 m + (1 - beta1) g';   v = beta2 v + (1 - beta2) g'^2
        step = rate m^ / (sqrt(v^) + eps)   where  m^ = m / (1 - beta1^(t+1)),  v^ = v / (1 - beta2^(t+1))
    L2 weight decay (g' = g + weight_decay w) is divided by the spread like any slope. With decoupled=True (AdamW)
    g' = g, and rate weight_decay w is added to the step: every weight shrinks at the same pace.
    Remembers two vectors. Kingma and Ba, Adam, ICLR 2015; Loshchilov and Hutter, Decoupled weight decay, ICLR 2019.
    """

    word = "adam"
    tried = ({"rate": 0.1},)
    remembers = ("mean", "square")
    rate: Rate = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    weight_decay: float = 0.0
    decoupled: bool = False

    def __post_init__(self):
        super().__post_init__()
        settle(self, beta1=kept(self.beta1, "beta1"), beta2=kept(self.beta2, "beta2"))
        settle(self, eps=epsilon(self.eps), decoupled=truth(self.decoupled, "decoupled"))

    @property
    def formula(self):
        return "adamw" if self.decoupled and self.weight_decay else "adam"

    def numbers(self, t):
        """As the formula takes them: the corrections of m and v go into the rate and the spread."""
        rate = self.rate_at(t)
        corrected = rate / (1 - self.beta1 ** (t + 1))
        spread = 1 / math.sqrt(1 - self.beta2 ** (t + 1))
        decay = rate * self.weight_decay if self.decoupled else self.weight_decay
        return corrected, self.beta1, 1 - self.beta1, self.beta2, 1 - self.beta2, spread, self.eps, decay
