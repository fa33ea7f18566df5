"""Lesson 06: asynchrony begets momentum, on a bowl f(w) = curvature w^2 / 2.

N workers; each push comes from a worker drawn at random (as with exponential compute times), who computed its gradient
where it last read:

    w <- w - rate f'(v_i),    v_i <- w
Taking means, with m the mean of all v_i:  w' = w - rate f'(m),  m' = (1 - 1/N) m + 1/N w', that is

    E[w' - w] = (1 - 1/N) E[w - w_before] - rate/N f'(E w)
Mitliagkas, Zhang, Hadjis, Re, Asynchrony begets momentum, with an application to deep learning, 2016.
"""

from __future__ import annotations

import numpy as np

WHO = 606  # the purpose of a coin


def alone(rate: float, steps: int, curvature: float = 1.0) -> np.ndarray:
    """Plain descent from w = 1: the path, of steps + 1 points."""
    return (1 - rate * curvature) ** np.arange(steps + 1)


def asynchronous(workers: int, rate: float, steps: int, runs: int, curvature: float = 1.0, seed: int = 0) -> np.ndarray:
    """[run, step]: the server's w, beginning with 1."""
    coin = np.random.default_rng([seed, workers, steps, runs, WHO])
    who = coin.integers(workers, size=(steps, runs))
    w, read, every = np.ones(runs), np.ones((workers, runs)), np.arange(runs)
    path = [w]
    for i in who:
        w = w - rate * curvature * read[i, every]
        read[i, every] = w
        path.append(w)
    return np.array(path).T


def heavy_ball(workers: int, rate: float, steps: int, curvature: float = 1.0) -> np.ndarray:
    """Descent with momentum 1 - 1/N and the rate over N; the first step is a whole one, as all have just read."""
    momentum, path = 1 - 1 / workers, [1.0, 1.0 - rate * curvature]
    for _ in range(steps - 1):
        path.append(path[-1] + momentum * (path[-1] - path[-2]) - rate / workers * curvature * path[-1])
    return np.array(path[: steps + 1])


def four_errors(paths: np.ndarray) -> np.ndarray:
    """Of the mean path, at each step."""
    return 4 * paths.std(axis=0, ddof=1) / np.sqrt(len(paths))
