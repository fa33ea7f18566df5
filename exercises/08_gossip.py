"""Exercise 08: gossip. Nobody hears everybody; each worker mixes with a few others, and news spreads hop by hop.

Write the four functions, then run `check("08.mixing_matrix")` and its like in the notebook, or `dlmini check 08` in a
terminal. None of them changes its arguments.
"""

import numpy as np

HINTS = {
    "mixing_matrix": (
        "Count first: how many neighbours has each worker? np.bincount over all ends of all edges counts them.",
        "Both ends of an edge get the same share, 1 / (1 + the larger of their two degrees): so K is symmetric.",
        "Fill in the edges first, in both directions. What a row then lacks to 1 stays with its owner (the diagonal). "
        "There may be workers without edges, or no edges at all: does your count know how many workers there are?",
    ),
    "spectral_gap": (
        "np.linalg.eigvals returns all eigenvalues. They may be negative or complex: what counts is their size.",
        "The largest is 1 and belongs to the mean, which does not change. Sort the sizes, take the second.",
        "First take the size of each (np.abs knows complex numbers), then sort, and only then look for the second from "
        "the end. A matrix of one worker has no second eigenvalue: think of it before you look.",
    ),
    "partners": (
        "The distance s goes 1, 2, ..., N // 2 and begins again: a remainder of t, plus one.",
        "The two at distance s are (rank + s) mod N and (rank - s) mod N. When are they the same worker?",
        "A set counts nobody twice, and sorted makes a list of it. What does the remainder do for a worker alone, with "
        "N // 2 = 0? Ask for it first.",
    ),
    "gossip_step": (
        "Two loops: first send to all who listen to you, then receive from all whom you listen to.",
        "Row r of K is what rank r hears, column r is who hears rank r. In a directed graph they are not the same.",
        "The first loop looks at column r, the second at row r, and neither at oneself. Between them begin the sum "
        "with your own part, as a new array. float32 times a share of K is float64, unless that has the type of x.",
    ),
}


def mixing_matrix(edges: list[tuple[int, int]], size: int) -> np.ndarray:
    """The mixing matrix of a graph by the weights of Metropolis: [size, size], float64.

        K[i, j] = 1 / (1 + max(degree i, degree j)) for neighbours,   K[i, i] = what is left to 1
    edges: pairs of neighbours, each pair once, in either order, never a worker with itself; perhaps none. Workers
    without neighbours keep all. K is symmetric, and rows sum to one.
    """
    raise NotImplementedError("not done yet: mixing_matrix")


def spectral_gap(K: np.ndarray) -> float:
    """1 - the second largest |eigenvalue| of K: 1 averages at once, 0 never. For one worker it is 1.

    K may be any mixing matrix, symmetric or not. The gap is a real number, also where eigenvalues are complex.
    """
    raise NotImplementedError("not done yet: spectral_gap")


def partners(rank: int, t: int, size: int) -> list[int]:
    """With whom `rank` mixes in round t = 0, 1, ...: those at distance s = 1, 2, ..., size // 2, then 1 again.

    Sorted, each only once: at s = size / 2 both directions lead to the same worker. A worker alone has none.
    """
    raise NotImplementedError("not done yet: partners")


def gossip_step(comm, x: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Row comm.rank of K @ X, where row j of X is the vector x of rank j.

    Use comm.send and comm.recv, and only for entries of K that are not zero: no message goes to or comes from a rank
    that is no neighbour. K[i, j] is the share with which rank i hears rank j. x must not be changed; its type stays.
    """
    raise NotImplementedError("not done yet: gossip_step")
