"""Filters on their way into Winograd's domain, and their gradients on the way back."""

import numpy as np

from dlmini.jit import kernel
from dlmini.nn.kernels.memory import scratch
from dlmini.nn.kernels.panels import panel_width
from dlmini.nn.kernels.points import POINTS, filter_matrix, tile

FILTERS = {r: filter_matrix(r) for r in POINTS}


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
