"""Lesson 08: mixing matrices from lists of neighbours, and the rotating partners repaired."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dlmini.lessons.student_code import own
from dlmini.topology.graphs import GRAPHS, circulant

EXERCISE = "08_gossip"


def graph_named(graph: str | Callable) -> Callable:
    """The graph (workers, round) -> K of this name; functions are graphs already."""
    return graph if callable(graph) else GRAPHS[graph]


def star_edges(size: int) -> list[tuple[int, int]]:
    """Worker 0 in the middle, neighbour of all others."""
    return [(0, i) for i in range(1, size)]


def adjacent(edges: Sequence[tuple[int, int]], size: int) -> np.ndarray:
    """True where two workers are neighbours."""
    A = np.zeros((size, size), bool)
    for i, j in edges:
        A[i, j] = A[j, i] = True
    return A


def by_degree(edges: Sequence[tuple[int, int]], size: int) -> np.ndarray:
    """The obvious matrix: everybody takes the plain mean of itself and its neighbours. Rows sum to one, columns do not.

    Its rounds tend to the mean weighted by 1 + degree, not to the mean.
    """
    A = adjacent(edges, size) + np.eye(size)
    return A / A.sum(axis=1, keepdims=True)


def metropolis(edges: Sequence[tuple[int, int]], size: int) -> np.ndarray:
    """Symmetric shares for any graph, 1 / (1 + the larger degree); each worker keeps what is left.

    Xiao, Boyd and Kim, Distributed average consensus with least-mean-square deviation, 2007.
    """
    A = adjacent(edges, size)
    degree = A.sum(axis=1)
    K = A / (1 + np.maximum.outer(degree, degree))
    return K + np.diag(1 - K.sum(axis=1))


def rotating_once(size: int, t: int = 0) -> np.ndarray:
    """The rotating partners with their trap repaired: at distance N/2 there is one partner, who counts one half."""
    if size == 1:
        return np.eye(1)
    s = 1 + t % (size // 2)
    return circulant(size, {0: 0.5, s: 0.5} if 2 * s == size else {0: 1 / 3, s: 1 / 3, -s: 1 / 3})


def graph_by(partners: Callable) -> Callable:
    """A graph in which everybody mixes in equal shares with itself and with partners(rank, t, size)."""

    def partnered(size: int, t: int = 0) -> np.ndarray:
        K = np.zeros((size, size))
        for rank in range(size):
            group = [rank, *partners(rank, t, size)]
            K[rank, group] = 1 / len(group)
        return K

    return partnered


def my_matrix() -> tuple[Callable, str]:
    """The student's mixing_matrix, or Metropolis' weights of the library; and whose it is."""
    return own(EXERCISE, "mixing_matrix", otherwise=metropolis)


def my_graph() -> tuple[Callable, str]:
    """The graph of the student's partners, or the library's while they are not written; and whose it is."""
    partners, whose = own(EXERCISE, "partners", otherwise=None)
    return (graph_by(partners) if partners else rotating_once), whose
