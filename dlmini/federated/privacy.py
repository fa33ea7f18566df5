"""Differential privacy of a federation: clip every client's update, add noise to the sum, and keep accounts.

    sum_i clip(x_i, C) + N(0, (z C)^2),   then divided by the number of clients
The accountant counts in Renyi divergence: one round in which each client takes part with probability q costs, at a
whole order a,

    eps(a) = 1/(a-1) log sum_k C(a,k) (1-q)^(a-k) q^k exp(k(k-1) / (2 z^2))
and rounds add up. For a chosen delta,  epsilon = min over a of  rounds eps(a) + log(1/delta) / (a-1).
Mironov, Talwar and Zhang, Renyi differential privacy of the sampled Gaussian mechanism, 2019; McMahan et al., Learning
differentially private recurrent language models, ICLR 2018. Clients must be drawn independently, each with
probability q (Poisson); with a fixed number of them, as federation.py draws, the figure is an approximation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb, exp, inf, log

import numpy as np

from dlmini.checks import fraction, real, settle, whole
from dlmini.federated.robust import matrix

NOISE = 31  # purpose of random numbers
ORDERS = (*range(2, 64), 80, 96, 128, 192, 256)


@dataclass(frozen=True)
class PrivateMean:
    """A rule (robust.py's verb): the mean of clipped updates, with noise. clip: C; noise: z; seed, t: of the noise.

    Rounds must not share their noise, nor may it depend on the data: `at(t)` is the same rule for round t. For teaching
    noise comes from a seed; who knows the seed can take it off, so a real server draws it from its system.
    """

    clip: float = 1.0
    noise: float = 1.0
    seed: int = 0
    t: int = 0

    def __post_init__(self):
        settle(self, clip=real(self.clip, "clip", above=0), noise=real(self.noise, "noise", least=0))
        settle(self, seed=whole(self.seed, "seed", 0), t=whole(self.t, "t", 0))

    def at(self, t: int) -> PrivateMean:
        return replace(self, t=t)

    def __call__(self, updates: np.ndarray) -> np.ndarray:
        x = matrix(updates).astype(np.float64)
        length = np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300)
        total = (x * np.minimum(1, self.clip / length)).sum(axis=0)
        coin = np.random.default_rng([self.seed, 0, self.t, NOISE])
        total += coin.normal(0, self.noise * self.clip, total.size) if self.noise else 0
        return (total / len(x)).astype(np.asarray(updates).dtype)


def renyi(order: int, share: float, noise: float) -> float:
    """What one round costs at a whole order; infinite if that is no number of a computer's any more. Added up in
    logarithms: the terms are enormous."""
    bend = 0.5 / noise / noise  # noise^2 itself would leave the numbers sooner
    if bend * order * order == inf:
        return inf
    if share == 1:
        return order * bend
    terms = [
        log(comb(order, k)) + (order - k) * log(1 - share) + k * log(share) + k * (k - 1) * bend
        for k in range(order + 1)
    ]
    top = max(terms)
    return max(0.0, top + log(sum(exp(term - top) for term in terms))) / (order - 1)


def epsilon(share: float, noise: float, rounds: int, delta: float = 1e-5) -> float:
    """How much privacy is spent: (epsilon, delta) after so many rounds. Without noise it is infinite."""
    share, noise = fraction(share, "share"), real(noise, "noise", least=0)
    rounds, delta = whole(rounds, "rounds", 0), real(delta, "delta", above=0, below=1)
    if not noise:
        return inf if rounds else 0.0
    if not rounds:
        return 0.0
    return min(rounds * renyi(a, share, noise) - log(delta) / (a - 1) for a in ORDERS)
