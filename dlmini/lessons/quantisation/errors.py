"""Lesson 09: two cures for rounding: chance, whose errors average out, and memory, which loses nothing.

chance    E Q(u) = u,   variance of each number  (m / s)^2 p (1 - p),   p the fraction that is rounded
memory    p = unsaid + u;  send Q(p);  unsaid = p - Q(p):     all sent + unsaid = all produced
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dlmini.compression import Feedback, Int8
from dlmini.compression.compressor import Compressor

CHANCE = 902  # the purpose of random numbers


# ---- chance ----


def spread_of(u: np.ndarray, levels: int, norm: float) -> np.ndarray:
    """The variance of each number under stochastic rounding on a grid of norm / levels: step^2 p (1 - p)."""
    p = np.modf(levels * np.abs(u.astype(float)) / norm)[0]
    return (norm / levels) ** 2 * p * (1 - p)


def mean_error(compressor: Compressor, u: np.ndarray, draws: int, seed: int = 0) -> float:
    """|mean of `draws` packets - u|^2: what workers with equal gradients would still get wrong together."""
    total = np.zeros(len(u))
    for t in range(draws):
        total += compressor.encode(u, np.random.default_rng([seed, t, CHANCE])).dense()
    return float(np.sum((total / draws - u) ** 2))


# ---- memory ----


class Books(NamedTuple):
    """All that was produced and sent, number by number, and what is still unsaid; allowed: what rounding explains."""

    produced: np.ndarray
    sent: np.ndarray
    unsaid: np.ndarray
    allowed: float

    @property
    def missing(self) -> float:
        return float(np.abs(self.produced - self.sent - self.unsaid).max())


def conserved(compressor: Compressor, updates: np.ndarray) -> Books:
    """Send rows of updates one after the other with error feedback, and keep the books in float64."""
    memory, produced, sent = Feedback(compressor, updates.shape[1]), 0.0, 0.0
    allowed = np.zeros(updates.shape[1])
    for update in updates:
        p = np.abs(memory.unsaid + update)
        packet = memory.encode(update)
        produced, sent = produced + update.astype(float), sent + packet.dense().astype(float)
        allowed += 2.0**-24 * (p + np.abs(memory.unsaid))
    return Books(produced, sent, memory.unsaid.astype(float), float(allowed.max()))


def drip(value: float, rounds: int, levels: int = 10) -> dict[str, np.ndarray]:
    """A small number beside a large one, round after round: all produced, and all sent so far."""
    update, plain = np.array([1.0, value], np.float32), Int8(levels)
    memory = Feedback(plain, 2)
    without = [plain.encode(update).dense()[1] for _ in range(rounds)]
    kept = [memory.encode(update).dense()[1] for _ in range(rounds)]
    return {"produced": value * np.arange(1, rounds + 1), "sent, nothing remembered": np.cumsum(without),
            "sent, with error feedback": np.cumsum(kept)}  # fmt: skip
