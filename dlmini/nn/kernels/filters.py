"""Filters on their way into Winograd's domain, and their gradients on the way back.

A weight of which no input meets a gradient (both not zero, anywhere in the batch) has the gradient zero. The way back
leaves rounding there, on which an optimiser such as Adagrad takes a whole step. So gradients that are no larger than
rounding, whose very signs are chance, become zero.
"""

import numpy as np

from dlmini.jit import kernel
from dlmini.nn.kernels.memory import scratch
from dlmini.nn.kernels.panels import panel_width
from dlmini.nn.kernels.points import POINTS, filter_matrix, tile

FILTERS = {r: filter_matrix(r) for r in POINTS}
ROUNDING = 16 * np.finfo(np.float32).eps  # of the largest term of a filter's gradient; 5 eps was the most ever seen
REACH = {r: ROUNDING * np.outer(*[np.abs(G).max(axis=1)] * 2).reshape(-1) for r, G in FILTERS.items()}


@kernel
def _filters(w, G, out, rows):
    """U = G w G^T, in panels over the output channels. `rows` is a work array [n, r, Co]."""
    (r, _, Ci, Co), n = w.shape, len(G)
    for ci in range(Ci):
        rows[...] = 0
        for i in range(n):
            for a in range(r):
                if G[i, a] != 0:
                    for b in range(r):
                        for co in range(Co):
                            rows[i, b, co] += G[i, a] * w[a, b, ci, co]
        for xi in range(n * n):
            c0 = 0
            while c0 < Co:
                width = 8 * panel_width((Co - c0) // 8)
                start = (xi * Co + c0) * Ci + ci * width
                for lane in range(width):
                    value = np.float32(0)
                    for b in range(r):
                        value += rows[xi // n, b, c0 + lane] * G[xi % n, b]
                    out[start + lane] = value
                c0 += width


@kernel
def filter_gradient(dU, G, dw):
    """dw = G^T dU G."""
    (r, _, Ci, Co), n = dw.shape, len(G)
    dw[...] = 0
    for a in range(r):
        for b in range(r):
            for xi in range(n * n):
                g = G[xi // n, a] * G[xi % n, b]
                if g != 0:
                    for ci in range(Ci):
                        for co in range(Co):
                            dw[a, b, ci, co] += g * dU[xi, ci, co]


@kernel
def _clear_rounding(dU, reach, dw, limit):
    """Zero where dw[tap, pair of channels] is no larger than the rounding of what it is a difference of."""
    limit[:] = 0
    for xi in range(len(dU)):
        for pair in range(limit.size):
            size = reach[xi] * abs(dU[xi, pair])
            limit[pair] = size if size > limit[pair] else limit[pair]
    for tap in range(len(dw)):
        for pair in range(limit.size):
            dw[tap, pair] = 0 if abs(dw[tap, pair]) <= limit[pair] else dw[tap, pair]


@kernel
def _turn(w, out):
    """out[a, b, co, ci] = w[a, b, ci, co]."""
    r, _, Ci, Co = w.shape
    for a in range(r):
        for b in range(r):
            for ci in range(Ci):
                for co in range(Co):
                    out[a, b, co, ci] = w[a, b, ci, co]


def filters(w: np.ndarray) -> np.ndarray:
    """The transformed filter: for each point of a tile a matrix, in panels."""
    r, _, Ci, Co = w.shape
    U = scratch("U", tile(r) ** 2 * Ci * Co)
    _filters(w, FILTERS[r], U, scratch("filter rows", tile(r), r, Co))
    return U


def turn(w: np.ndarray) -> np.ndarray:
    """The filter with input and output channels exchanged."""
    r, _, Ci, Co = w.shape
    turned = scratch("turned", r, r, Co, Ci)
    _turn(w, turned)
    return turned


def clear_rounding(dU: np.ndarray, dw: np.ndarray) -> None:
    """dw = 0 where it is lost in rounding."""
    r, _, Ci, Co = dw.shape
    _clear_rounding(dU.reshape(-1, Ci * Co), REACH[r], dw.reshape(r * r, Ci * Co), scratch("limit", Ci * Co))
