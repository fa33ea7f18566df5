"""The compiled twins of nn/up.py: same names, same signatures. Strided matrix products, as in direct.py."""

import numpy as np

from dlmini.jit import kernel
from dlmini.nn.kernels.memory import address, dense, pitches, scratch
from dlmini.nn.kernels.panels import SIDE, pack, padded
from dlmini.nn.kernels.routines import COPY, MULTIPLY, SUMS, run, table
from dlmini.nn.kernels.tile import ADD, BIAS, STORE

STRIPE = 4  # rows of an image whose x and dy together stay in the first-level cache
ROOM = 32  # bytes that may be read behind the last pixel of dy where its channels do not fill a vector


@kernel
def _forward(table, side, x, x_n, x_h, x_w, w, y, y_n, y_h, y_w, bias, N, H, W, Ci, Co, size):
    """Each row of x makes `size` rows of y, pixel c of every window at a time."""
    for n in range(N):
        for h in range(H):
            row = x + 4 * (n * x_n + h * x_h)
            for k in range(size * size):
                a, c = k // size, k % size
                to, panels = y + 4 * (n * y_n + (h * size + a) * y_h + c * y_w), w + 4 * k * Ci * ((Co + 7) // 8 * 8)
                run(
                    table, MULTIPLY, table, W, Co, BIAS, side, to, size * y_w, row, x_w, 1, 0, panels, 0, 0, Ci, 1, bias
                )


@kernel
def _weights(table, side, x, x_n, x_h, x_w, dy, d_n, d_h, d_w, dw, db, N, H, W, Ci, Co, size, stripe):
    """dw[a, c] += x^T dy[a::size, c::size], db += dy."""
    for n in range(N):
        for h in range(0, H, stripe):
            rows, row, top = min(stripe, H - h), x + 4 * (n * x_n + h * x_h), dy + 4 * (n * d_n + h * size * d_h)
            for k in range(size * size):
                at_d, to = top + 4 * (k // size * d_h + k % size * d_w), dw + 4 * k * Ci * Co
                across, down = size * d_w, size * d_h
                run(table, MULTIPLY, table, Ci, Co, ADD, side, to, Co, row, 1, x_w, x_h, at_d, across, down, W, rows, 0)
            for c in range(0, Co, 8):
                run(table, SUMS, rows * size, W * size, top + 4 * c, d_h, d_w, db + 4 * c)


@kernel
def _inputs(table, side, dy, d_n, d_h, d_w, w, dx, x_n, x_h, x_w, gated, gate, g_n, g_h, g_w, N, H, W, Ci, Co, size):
    """dx = every pixel of a window times its weights, turned, a row of the window at a time; then through the gate."""
    run_of = W if x_w == Ci and g_w == Ci else 1
    for n in range(N):
        for h in range(H):
            to = dx + 4 * (n * x_n + h * x_h)
            for a in range(size):
                row, mode = dy + 4 * (n * d_n + (h * size + a) * d_h), ADD if a else STORE
                at_w, step = w + 4 * a * size * Co * ((Ci + 7) // 8 * 8), size * d_w
                run(table, MULTIPLY, table, W, Ci, mode, side, to, x_w, row, step, 1, d_w, at_w, 0, 0, Co, size, 0)
            through = gate + 4 * (n * g_n + h * g_h)
            for j in range(0, W * gated, run_of):
                run(table, COPY, 1, run_of * Ci, to + 4 * j * x_w, to + 4 * j * x_w, through + 4 * j * g_w)


@kernel
def _turn(w, out):
    """out[a, (c, co), ci] = w[a, c, ci, co]."""
    size, _, Ci, Co = w.shape
    for a in range(size):
        for c in range(size):
            for ci in range(Ci):
                for co in range(Co):
                    out[a, c * Co + co, ci] = w[a, c, ci, co]


def roomy(values):
    room = scratch("bias", padded(len(values)))
    room[: len(values)] = values
    return room


def up_forward(x, w, b, y):
    x, (size, _, Ci, Co), (N, H, W, _) = dense(x), w.shape, x.shape
    weights = scratch("weights", size * size, Ci * padded(Co))
    for k in range(size * size):
        pack(np.ascontiguousarray(w[k // size, k % size]), weights[k])
    place = y if y.strides[3] == 4 and y.dtype == np.float32 else np.empty(y.shape, np.float32)
    _forward(
        table(), address(scratch("side", SIDE)), address(x), *pitches(x), address(weights),
        address(place), *pitches(place), address(roomy(b)), N, H, W, Ci, Co, size,
    )  # fmt: skip
    if place is not y:
        y[...] = place


def up_backward(x, w, dy, dx, dw, db, gate=False):
    x, w, (size, _, Ci, Co), (N, H, W, _) = dense(x), np.ascontiguousarray(w), w.shape, x.shape
    if dy.strides[3] != 4 or dy.dtype != np.float32 or Co % 8:
        dy = dense(dy, ROOM)
    sums, side = scratch("sums", padded(Co)), address(scratch("side", SIDE))
    dw[...] = 0
    sums[...] = 0
    _weights(
        table(), side, address(x), *pitches(x), address(dy), *pitches(dy), address(dw), address(sums),
        N, H, W, Ci, Co, size, STRIPE,
    )  # fmt: skip
    db[...] = sums[:Co]
    if dx is None:
        return
    turned, weights = scratch("turned", size, size * Co, Ci), scratch("weights", size, size * Co * padded(Ci))
    _turn(w, turned)
    for a in range(size):
        pack(turned[a], weights[a])
    place = dx if dx.strides[3] == 4 and dx.dtype == np.float32 else np.empty(dx.shape, np.float32)
    _inputs(
        table(), side, address(dy), *pitches(dy), address(weights), address(place), *pitches(place),
        int(gate), address(x), *pitches(x), N, H, W, Ci, Co, size,
    )  # fmt: skip
    if place is not dx:
        dx[...] = place
