"""Filters on their way into Winograd's domain, and their gradients on the way back."""

import numpy as np

from dlmini.jit import kernel
from dlmini.nn.kernels.memory import address, scratch
from dlmini.nn.kernels.panels import panel_width
from dlmini.nn.kernels.points import tile
from dlmini.nn.kernels.routines import FILTER_R, TAPS_R, run, table

SQUARE = 8  # a transposition goes by squares of so many channels, which stay in the first-level cache


@kernel
def _filters(table, r, w, out, Ci, Co):
    """U = G w G^T, in panels over the output channels."""
    for ci in range(Ci):
        c0 = 0
        while c0 < Co:
            width = 8 * panel_width((Co - c0) // 8)
            at, to = w + 4 * (ci * Co + c0), out + 4 * (c0 * Ci + ci * width)
            run(table, FILTER_R + r, width, at, r * Ci * Co, Ci * Co, to, Ci * Co)
            c0 += width


@kernel
def _taps(table, r, dU, dw, Ci, Co):
    """dw = G^T dU G."""
    run(table, TAPS_R + r, Ci * Co, dU, Ci * Co, dw, r * Ci * Co, Ci * Co)


@kernel
def _turn(w, out, square):
    """out[a, b, co, ci] = w[a, b, ci, co]."""
    r, _, Ci, Co = w.shape
    for tap in range(r * r):
        a, b = tap // r, tap % r
        for top in range(0, Ci, square):
            for left in range(0, Co, square):
                for co in range(left, min(left + square, Co)):
                    for ci in range(top, min(top + square, Ci)):
                        out[a, b, co, ci] = w[a, b, ci, co]


def filters(w: np.ndarray) -> np.ndarray:
    """The transformed filter: for each point of a tile a matrix, in panels."""
    r, _, Ci, Co = w.shape
    U = scratch("U", tile(r) ** 2 * Ci * Co)
    _filters(table(), r, address(w), address(U), Ci, Co)
    return U


def turn(w: np.ndarray) -> np.ndarray:
    """The filter with input and output channels exchanged."""
    r, _, Ci, Co = w.shape
    turned = scratch("turned", r, r, Co, Ci)
    _turn(w, turned, SQUARE)
    return turned


def taps(dU: np.ndarray, dw: np.ndarray) -> None:
    """The gradient of a filter, from that of the transformed filter."""
    r, _, Ci, Co = dw.shape
    place = dw if dw.flags.c_contiguous and dw.dtype == np.float32 else scratch("taps", *dw.shape)
    _taps(table(), r, address(dU), address(place), Ci, Co)
    if place is not dw:
        dw[...] = place
