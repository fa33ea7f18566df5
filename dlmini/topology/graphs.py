"""Who mixes with whom, as a matrix: row i says with which weight each worker's news reaches worker i.

Every row and every column sums to one, so that the mean over all workers never changes. How fast differences die is
the spectral gap, 1 minus the second largest |eigenvalue|:

    ring                 (1 + 2 cos(2 pi / P)) / 3 is the eigenvalue, so the gap falls with 1 / P^2
    exponential          2 / (1 + ceil(log2 P)) for even P (Ying et al., Exponential graph is provably efficient, 2021)
    one_peer             exact average after log2 P rounds if P is a power of two
    rotating             the partners of Tolstobrov 2022, after GossipGraD (Daily et al., 2018): distance 1, 2, ..., P/2

A graph is one of these names, or a matrix of one's own (own.py).
"""

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import isqrt

import numpy as np

from dlmini.checks import numbers, whole
from dlmini.comm.errors import DeadRank
from dlmini.topology.own import Own

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
    size, t = asked(size, t)
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


REPEATS: dict[str, Callable[[int], int]] = {
    "one_peer": lambda size: len(hops(size)),
    "rotating": lambda size: size // 2,
}


def graph_of(graph) -> str | Own:
    """A graph as topologies keep it: a known name, or a matrix of one's own, checked."""
    if isinstance(graph, str):
        if graph not in GRAPHS:
            raise ValueError(
                f"there is no graph called {graph!r}; choose one of {', '.join(GRAPHS)}, or give a matrix: Own(K)"
            )
        return graph
    return graph if isinstance(graph, Own) else Own(graph)


def is_fixed(graph: str | Own) -> bool:
    """Whether neighbours are the same in every round."""
    return graph.fixed if isinstance(graph, Own) else graph not in (*REPEATS, "random")


def asked(size, t) -> tuple[int, int]:
    """How many workers, and which round: what a matrix is asked for."""
    return whole(size, "size", 1, hint="how many workers"), whole(t, "t", 0, hint="the number of the round")


def matrix_of(graph: str | Own, size: int, t: int) -> np.ndarray:
    return computed(graph, *asked(size, t))


@lru_cache(maxsize=512)
def computed(graph: str | Own, size: int, t: int) -> np.ndarray:
    K = graph(size, t) if isinstance(graph, Own) else GRAPHS[graph](size, t)
    K.flags.writeable = False
    return K


def onward(ranks: Iterable[int], first: int, size: int) -> list[int]:
    """`ranks` in the order in which one meets them going up from `first`, and on from 0 after size - 1.

    If all send so, each beginning at its own rank, then at any time they send to different receivers, and no two meet
    at a port. In the order of ranks all would begin with the same one, and the others' ports would be idle.
    """
    return sorted(ranks, key=lambda rank: (rank - first) % size)


def without(K: np.ndarray, gone: Iterable[int]) -> np.ndarray:
    """K among survivors: everybody counts for itself what it can no longer hear, K_ii += K_ij for each dead j.

    Rows still sum to one, so who agree go on agreeing. Columns do too where K is symmetric (ring, torus, complete,
    random, rotating): then the mean over survivors never changes either. Where it is not (exponential, one_peer),
    those whom the dead one heard, and it alone, count for less than before.
    """
    K, gone = np.array(K), list(gone)
    K[np.diag_indices(len(K))] += K[:, gone].sum(1)
    K[:, gone] = K[gone] = 0
    return K


def heard(comm, K: np.ndarray, message, instead=None):
    """Send to all that K lets hear me, onward from my rank; then (message, share) of everybody whom I hear, myself too.

    What is heard comes in the order of ranks, whoever was first: sums have the same bits on every transport.
    instead: what counts in the place of what a dead worker would have said (see `without`); else its death is raised.
    """
    for other in onward(np.flatnonzero(K[:, comm.rank]).tolist(), comm.rank, comm.size):
        if other != comm.rank:
            comm.send(other, message)
    for other in np.flatnonzero(K[comm.rank]):
        yield (message if other == comm.rank else received(comm, int(other), instead)), float(K[comm.rank, other])


def received(comm, source: int, instead):
    """What a worker says; if it has died before that, `instead`."""
    try:
        return comm.recv(source)
    except DeadRank:
        if instead is None:
            raise
        return instead


def spectral_gap(K: np.ndarray) -> float:
    """1 - the second largest |eigenvalue|: 1 averages at once, 0 never."""
    K = numbers(K, "K", 2, "a square matrix of numbers, such as Gossip('ring').matrix(8, 0)")
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"K has shape {K.shape}; a mixing matrix is square: one row and column per worker")
    sizes = np.sort(np.abs(np.linalg.eigvals(K)))
    return float(1 - sizes[-2]) if len(sizes) > 1 else 1.0


def contraction(graph: Graph, size: int, rounds: int) -> float:
    """What is left of the largest difference after so many rounds: |K_t ... K_1 - mean|_2."""
    product = np.eye(size)
    for t in range(rounds):
        product = graph(size, t) @ product
    return float(np.linalg.norm(product - 1 / size, 2))


def period_mean(graph: str | Own, size: int) -> np.ndarray:
    """The mean of K over the rounds until it comes again; of random pairs, the expected K."""
    if graph == "random":
        meet = 1 / (size - 1 + size % 2) if size > 1 else 0.0  # how often a given two are a pair
        return np.full((size, size), meet / 2) + np.eye(size) * (1 - size * meet / 2)
    period = graph.period if isinstance(graph, Own) else max(1, REPEATS.get(graph, lambda size: 1)(size))
    return np.mean([matrix_of(graph, size, t) for t in range(period)], axis=0)


def least_pull(graph: str | Own, size: int) -> float:
    """The smallest real part of an eigenvalue of the period mean: whether gossip of gradients holds workers together.

    Let workers mix gradients, w_i -= eta sum_j K_ij g_j, near a minimum where g = a (w - w*). Along an eigenvector of
    K with the eigenvalue L their differences d obey

        d <- (1 - eta a L) d        Re L > 0: they die out    L = 0: they stay    Re L < 0: they grow
    for then a worker is told to climb what it should descend. If K changes, to first order in eta only its mean over a
    period counts. A ring of thirds has L = (1 + 2 cos(2 pi k / P)) / 3, down to -1/3 for even P: mix weights there,
    which multiplies d by L itself. The rotating partners have 1/3 - 4/(3 P) for even P and (P - 3) / (3 (P - 1)) for
    odd: below 0 only for two workers.
    """
    return float(np.linalg.eigvals(period_mean(graph, size)).real.min())


def drifts_apart(graph: str | Own, size: int) -> bool:
    """Whether workers who mix gradients by this graph are driven apart, however small their steps."""
    return least_pull(graph, size) < -1e-9


def consensus_distance(weights) -> float:
    """How far workers are from their mean: sqrt(mean_i |w_i - mean|^2)."""
    weights = numbers(weights, "weights", 2, "one vector per worker, all of one length, such as [w0, w1]")
    return float(np.sqrt(np.mean(np.sum((weights - weights.mean(axis=0)) ** 2, axis=1))))
