"""Lesson 08: gossip. How news spreads by a mixing matrix, what holds workers together, and what drives them apart.

    x <- K x        each worker replaces its value by a mixture; the mean stays if columns of K sum to one
Lian et al., Can decentralized algorithms outperform centralized algorithms?, 2017 (D-PSGD); Tolstobrov 2022.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dlmini.comm.launch import launch
from dlmini.comm.network import gigabit
from dlmini.lessons.gossip.graphs import graph_named
from dlmini.lessons.student_code import own
from dlmini.sim import Simulated
from dlmini.topology.graphs import consensus_distance, heard

EXERCISE = "08_gossip"
NOISE = 8  # the purpose of the coin in `bowl`


def rumour(graph: str | Callable, size: int, rounds: int) -> np.ndarray:
    """[rounds + 1, size]: worker 0 knows 1, all others 0; what each knows after every round."""
    K, known = graph_named(graph), [np.eye(size)[0]]
    for t in range(rounds):
        known.append(K(size, t) @ known[-1])
    return np.array(known)


def left_after(graph: str | Callable, size: int, rounds: int) -> np.ndarray:
    """What is left of the most stubborn difference after 0, 1, ... rounds: |K_t ... K_1 - mean|_2."""
    K, product, left = graph_named(graph), np.eye(size), [1.0]
    for t in range(rounds):
        product = K(size, t) @ product
        left.append(float(np.linalg.norm(product - 1 / size, 2)))
    return np.array(left)


# ---- descent on a bowl ----


def zigzag(size: int) -> np.ndarray:
    """+1, -1, +1, ...: the wave that a ring of an even number of workers turns over."""
    return (-1.0) ** np.arange(size)[:, None]


def bowl(
    graph: str | Callable,
    what: str,
    start: np.ndarray,
    steps: int,
    rate: float = 0.1,
    noise: float = 0.0,
    curvature: float = 1.0,
    seed: int = 0,
) -> np.ndarray:
    """Workers descend a/2 |w|^2 and gossip; their consensus distance before the first step, and after each.

        gradients   w_i -= rate sum_j K_ij g_j              weights   w_i = sum_j K_ij (w_j - rate g_j)
    start: [workers, numbers]; noise: standard deviation of every number of a gradient.
    """
    K, w = graph_named(graph), start.astype(np.float64)
    coin, found = np.random.default_rng([seed, NOISE]), [consensus_distance(w)]
    for t in range(steps):
        g, mix = curvature * w + noise * coin.standard_normal(w.shape), K(len(w), t)
        w = w - rate * mix @ g if what == "gradients" else mix @ (w - rate * g)
        found.append(consensus_distance(w))
    return np.array(found)


def settled(K: np.ndarray, rate: float, noise: float, numbers: int, curvature: float = 1.0) -> float:
    """Where the consensus distance settles if weights are mixed by a symmetric K, and gradients are noisy.

    Along an eigenvector with eigenvalue L: d <- L ((1 - rate a) d - rate n), so that E d^2 tends to
    (L rate noise)^2 / (1 - L^2 (1 - rate a)^2); the wave of the mean, L = 1, is left out.
    """
    L = np.sort(np.linalg.eigvalsh(K))[:-1]
    each = (L * rate * noise) ** 2 / (1 - (L * (1 - rate * curvature)) ** 2)
    return float(np.sqrt(numbers * each.sum() / len(K)))


def walked(graph: str | Callable, workers: int, steps: int, rate: float, noise: float, numbers: int) -> float:
    """How far apart workers are after so many steps in a flat valley (curvature 0) where they mix noisy gradients.

    Nothing pulls back, so the noise of all steps adds up: E D^2 = (rate noise)^2 numbers sum_t (|K_t|_F^2 - 1) / N.
    """
    K = graph_named(graph)
    paths = sum(np.sum(K(workers, t) ** 2) - 1 for t in range(steps))
    return float(rate * noise * np.sqrt(numbers * paths / workers))


# ---- different data ----


def valleys(K: np.ndarray, a, b, rate: float, steps: int, track: bool = False) -> np.ndarray:
    """[steps + 1, workers]: gossip of weights if worker i descends a_i/2 (w - b_i)^2; track: gradient tracking."""
    w, y, before = (np.zeros(len(a)) for _ in range(3))
    path = [w]
    for _ in range(steps):
        slope = a * (w - b)
        y, before = (y + slope - before, slope) if track else (slope, before)
        w, y = K @ (w - rate * y), K @ y
        path.append(w)
    return np.array(path)


def rests(K: np.ndarray, a, b, rate: float) -> np.ndarray:
    """Where each worker comes to rest without tracking: w = K (w - rate a (w - b)), solved for w."""
    pull = rate * K @ np.diag(a)
    return np.linalg.solve(np.eye(len(K)) - K + pull, pull @ b)


# ---- one-way streets ----


def push(graph: Callable, values: np.ndarray, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Push-sum without learning: the numbers x and the weights of all workers, before and after every round."""
    x, weight = [values.astype(np.float64)], [np.ones(len(values))]
    for t in range(rounds):
        K = graph(len(values), t)
        x.append(K @ x[-1])
        weight.append(K @ weight[-1])
    return np.array(x), np.array(weight)


# ---- what a round costs, and a student's own ----


def library_step(comm, x: np.ndarray, K: np.ndarray) -> np.ndarray:
    """One round of gossip by the library: row comm.rank of K @ X. Rank r sends to r + 1, r + 2, ... in this order."""
    return np.sum([x.dtype.type(share) * other for other, share in heard(comm, K, x)], axis=0, dtype=x.dtype)


def in_order(comm, x: np.ndarray, K: np.ndarray) -> np.ndarray:
    """The same, but everybody sends in the order of ranks, as the first loop that comes to mind does."""
    r = comm.rank
    for j in range(comm.size):
        if j != r and K[j, r]:
            comm.send(j, x)
    rows = [x if j == r else comm.recv(int(j)) for j in np.flatnonzero(K[r])]
    return (K[r][K[r] != 0] @ np.array(rows)).astype(x.dtype)


def my_step() -> tuple[Callable, str]:
    """The student's gossip_step, or the library's while it is not written; and a sentence that says whose it is."""
    return own(EXERCISE, "gossip_step", otherwise=library_step)


def mixed(step: Callable, X: np.ndarray, K: np.ndarray, network=gigabit):
    """One round on simulated ranks, each with a row of X: its values are the rows of K @ X; it knows its seconds."""
    return launch(lambda comm: step(comm, X[comm.rank], K), on=Simulated(len(X), network))
