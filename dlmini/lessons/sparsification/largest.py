"""Lesson 10: few numbers say most. Which, what their places cost, and how many places N ranks have together.

top-k      |Q(u) - u|^2 <= (1 - k/d) |u|^2
random-k   E Q(u) = u,  E |Q(u) - u|^2 = (d/k - 1) |u|^2
places     log2 C(d, k) bits at least
union      of N sets of k places: at most min(1, N k/d); 1 - (1 - k/d)^N if they are independent
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma, log, log2

import numpy as np

from dlmini.compression import Feedback, TopK
from dlmini.compression.compressor import Compressor
from dlmini.data import Dataset
from dlmini.events import Round
from dlmini.nn import Model
from dlmini.outcome import Outcome

CHANCE, DEAL = 1001, 1002  # purposes of random numbers


def coin(*key: int) -> np.random.Generator:
    return np.random.default_rng([*key, CHANCE])


# ---- which numbers ----


def kept(u: np.ndarray) -> np.ndarray:
    """The share of the energy |u|^2 in the k largest numbers, for k = 1 ... d."""
    squares = np.sort(u.astype(float) ** 2)[::-1]
    return np.cumsum(squares) / squares.sum()


def lost(compressor: Compressor, u: np.ndarray, draws: int = 1) -> np.ndarray:
    """|Q(u) - u|^2 / |u|^2, for so many throws of the coin."""
    wide = u.astype(float)
    errors = [compressor.encode(u, coin(t)).dense() - wide for t in range(draws)]
    return np.array([e @ e for e in errors]) / (wide @ wide)


def travelled(net: Model, data: Dataset, share: float, rounds: int, memory: bool, batch: int = 100) -> np.ndarray:
    """How often each weight was sent in so many rounds of one worker's training with top-k."""
    scaled, w, grad, count = data.scaled(), net.initial(seed=0), net.zeros(), np.zeros(net.size, int)
    codec = Feedback(TopK(share), net.size) if memory else TopK(share)
    for t in range(rounds):
        rows = np.arange(t * batch, (t + 1) * batch) % len(data)
        net.loss_and_grad(w, scaled.x[rows], scaled.y[rows], grad)
        packet = codec.encode(grad)
        count[packet.index] += 1
        packet.add_to(w, -0.1)
    return count


def share_sent(run: Outcome, size: int, rank: int = 0) -> np.ndarray:
    """Which share of the numbers a rank has sent in each round, read from its packets' bytes (4, and 8 for each)."""
    return np.array([(e.nbytes - 4) / 8 / size for e in run.events if isinstance(e, Round) and e.rank == rank])


# ---- what places cost ----


def place_bits(d: int, k: int) -> float:
    """log2 C(d, k): no code for k places out of d needs less on average, if all choices are equally likely."""
    return (lgamma(d + 1) - lgamma(k + 1) - lgamma(d - k + 1)) / log(2)


def place_bits_about(d: int, k: int) -> float:
    """k (log2(d/k) + log2 e), for k much less than d (Stirling)."""
    return k * (log2(d / k) + 1 / log(2))


# ---- many ranks ----


def places_of_workers(net: Model, data: Dataset, workers: int, share: float, steps: int = 30) -> list[np.ndarray]:
    """The places that top-k chooses for each of N workers: the same weights, different batches of 25."""
    scaled, w, grad, found = data.scaled(), net.initial(seed=0), net.zeros(), []
    for t in range(steps + workers):
        rows = np.random.default_rng([t, DEAL]).choice(len(data), 100 if t < steps else 25, replace=False)
        net.loss_and_grad(w, scaled.x[rows], scaled.y[rows], grad)
        if t < steps:
            w -= 0.1 * grad
        else:
            found.append(TopK(share).encode(grad).index.copy())
    return found


def random_places(size: int, workers: int, share: float, seed: int = 0) -> list[np.ndarray]:
    """Places that have nothing to do with one another."""
    k = max(1, round(share * size))
    return [coin(seed, rank).choice(size, k, replace=False) for rank in range(workers)]


def density(places: Sequence[np.ndarray], size: int) -> list[float]:
    """The share of places that the first 1, 2, ... N ranks have chosen together."""
    seen, found = np.zeros(size, bool), []
    for index in places:
        seen[index] = True
        found.append(float(seen.mean()))
    return found


def expected_density(workers, share: float):
    """1 - (1 - k/d)^N: independent places."""
    return 1 - (1 - share) ** np.asarray(workers, float)
