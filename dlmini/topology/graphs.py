"""Who mixes with whom, as a matrix: row i says with which weight each worker's news reaches worker i.

Every row and every column sums to one, so that the mean over all workers never changes. How fast differences die is
the spectral gap, 1 minus the second largest |eigenvalue|:

    ring                 (1 + 2 cos(2 pi / P)) / 3 is the eigenvalue, so the gap falls with 1 / P^2
    exponential          2 / (1 + ceil(log2 P)) for even P (Ying et al., Exponential graph is provably efficient, 2021)
    one_peer             exact average after log2 P rounds if P is a power of two
    rotating             the partners of Tolstobrov 2022, after GossipGraD (Daily et al., 2018): distance 1, 2, ..., P/2
"""

from collections.abc import Callable
from functools import lru_cache
from math import isqrt

import numpy as np

Graph = Callable[[int, int], np.ndarray]  # (workers, round) -> matrix


def circulant(size: int, shares: dict[int, float]) -> np.ndarray:
    """Worker i hears worker i + offset with the given share; equal offsets add up."""
    K = np.zeros((size, size))
    rows = np.arange(size)
    for offset, share in shares.items():
        K[rows, (rows + offset) % size] += share
    return K


def ring(size: int, t: int = 0) -> np.ndarray:
    """One third each: oneself and the two neighbours."""
    return circulant(size, {0: 1 / 3, 1: 1 / 3, -1: 1 / 3})


def complete(size: int, t: int = 0) -> np.ndarray:
    """Everybody: the matrix of an all-reduce."""
    return np.full((size, size), 1 / size)


def torus(size: int, t: int = 0) -> np.ndarray:
    """One fifth each: oneself and the four neighbours on the most nearly square grid."""
    rows = next(r for r in range(isqrt(size), 0, -1) if size % r == 0)
    columns = size // rows
    up_down, left_right = circulant(rows, {1: 1, -1: 1}), circulant(columns, {1: 1, -1: 1})
    return (np.eye(size) + np.kron(up_down, np.eye(columns)) + np.kron(np.eye(rows), left_right)) / 5


def hops(size: int) -> list[int]:
    """1, 2, 4, ... below the number of workers."""
    return [2**k for k in range((size - 1).bit_length())]


def exponential(size: int, t: int = 0) -> np.ndarray:
    """Oneself and those 1, 2, 4, ... further on, in equal shares."""
    offsets = [0, *hops(size)]
    return circulant(size, dict.fromkeys(offsets, 1 / len(offsets)))


def one_peer(size: int, t: int = 0) -> np.ndarray:
    """Half oneself, half the one 2^(t mod log2 P) further on."""
    return circulant(size, {0: 0.5, hops(size)[t % len(hops(size))]: 0.5}) if size > 1 else np.eye(1)


def rotating(size: int, t: int = 0) -> np.ndarray:
    """One third each: oneself and the two at distance s = 1, 2, ..., P/2, then 1 again.

    For even P and s = P/2 both partners are the same worker, who then counts for two thirds.
    """
    if size == 1:
        return np.eye(1)
    s = 1 + t % (size // 2)
    K = circulant(size, {0: 1 / 3})
    return K + circulant(size, {s: 1 / 3}) + circulant(size, {-s: 1 / 3})


def pairs(size: int, t: int = 0) -> np.ndarray:
    """Random pairs, new ones each round; of an odd number one stays alone."""
    order = np.random.default_rng([size, t]).permutation(size)
    K = np.eye(size)
    for a, b in zip(order[0 : size - 1 : 2], order[1:size:2], strict=True):
        K[[a, a, b, b], [a, b, a, b]] = 0.5
    return K


GRAPHS: dict[str, Graph] = {
    "ring": ring,
    "torus": torus,
    "complete": complete,
    "exponential": exponential,
    "one_peer": one_peer,
    "random": pairs,
    "rotating": rotating,
}


@lru_cache(maxsize=512)
def matrix_of(graph: str, size: int, t: int) -> np.ndarray:
    K = GRAPHS[graph](size, t)
    K.flags.writeable = False
    return K


def spectral_gap(K: np.ndarray) -> float:
    """1 - the second largest |eigenvalue|: 1 averages at once, 0 never."""
    sizes = np.sort(np.abs(np.linalg.eigvals(K)))
    return float(1 - sizes[-2]) if len(sizes) > 1 else 1.0


def contraction(graph: Graph, size: int, rounds: int) -> float:
    """What is left of the largest difference after so many rounds: |K_t ... K_1 - mean|_2."""
    product = np.eye(size)
    for t in range(rounds):
        product = graph(size, t) @ product
    return float(np.linalg.norm(product - 1 / size, 2))
