"""Convolution as one strided matrix product: any kernel, any stride, any number of channels.

Images are NHWC. Images that a convolution reads carry their zero border with them; those that it writes have none.
"""

import numpy as np

from dlmini.jit import kernel
from dlmini.nn.kernels.memory import address, pitches, scratch
from dlmini.nn.kernels.panels import SIDE, pack, pack_turned, padded
from dlmini.nn.kernels.routines import CLEAR, COPY, MULTIPLY, POOL, SUMS, run, table
from dlmini.nn.kernels.tile import ADD, STORE

STRIPE = 4  # rows of an image whose x and dy together stay in the first-level cache


@kernel
def _forward(table, mode, side, x, x_n, x_h, x_w, w, y, y_n, y_h, y_w, bias, N, H, W, Ci, Co, KH, KW, stride):
    """y = x * w + bias, a row of pixels at a time."""
    R = KW * Ci
    for n in range(N):
        for h in range(H):
            row, to = x + 4 * (n * x_n + h * stride * x_h), y + 4 * (n * y_n + h * y_h)
            run(table, MULTIPLY, table, W, Co, mode, side, to, y_w, row, stride * x_w, 1, x_h, w, 0, 0, R, KH, bias)


@kernel
def _forward_pool(table, two, x, x_n, x_h, x_w, w, y, y_n, y_h, code, bias, N, H, W, Ci, Co, KH, KW):
    """y = maxpool(relu(x * w + bias)): two rows of the map at a time, which never leave the first-level cache."""
    R = KW * Ci
    for n in range(N):
        for h in range(H // 2):
            for r in range(2):
                row, to = x + 4 * (n * x_n + (2 * h + r) * x_h), two + 4 * r * W * Co
                run(table, MULTIPLY, table, W, Co, STORE, 0, to, Co, row, x_w, 1, x_h, w, 0, 0, R, KH, 0)
            at_y, at_code = y + 4 * (n * y_n + h * y_h), code + (n * (H // 2) + h) * (W // 2) * Co
            for pair in range(W // 2):
                for c in range(0, Co, 8):
                    source, to = two + 4 * (2 * pair * Co + c), pair * Co + c
                    run(table, POOL, source, W * Co, Co, at_y + 4 * to, at_code + to, bias + 4 * c)


@kernel
def _weights(table, side, x, x_n, x_h, x_w, dy, d_n, d_h, d_w, dw, db, N, H, W, Ci, Co, KH, KW, stride, stripe):
    """dw += x patches times dy, db += dy. Rows of the product are (kw, ci), its depth are the pixels of a stripe."""
    R = KW * Ci
    for n in range(N):
        for h in range(0, H, stripe):
            rows = min(stripe, H - h)
            at_d = dy + 4 * (n * d_n + h * d_h)
            for kh in range(KH):
                row, to = x + 4 * (n * x_n + (h * stride + kh) * x_h), dw + 4 * kh * R * Co
                across, down = stride * x_w, stride * x_h
                run(table, MULTIPLY, table, R, Co, ADD, side, to, Co, row, 1, across, down, at_d, d_w, d_h, W, rows, 0)
            for c in range(0, Co, 8):
                run(table, SUMS, rows, W, at_d + 4 * c, d_h, d_w, db + 4 * c)


@kernel(inline=True)
def _input(table, side, dy, d_h, d_w, w, dx, x_h, x_w, H, W, Ci, Co, KH, KW, stride):
    """dx += dy @ w[kh, kw]^T at each offset of one image: the exact number of multiplications."""
    for k in range(KH * KW):
        panels = w + 4 * k * ((Ci + 7) // 8 * 8) * Co
        for h in range(H):
            row, to = dy + 4 * h * d_h, dx + 4 * ((h * stride + k // KW) * x_h + k % KW * x_w)
            run(table, MULTIPLY, table, W, Ci, ADD, side, to, stride * x_w, row, d_w, 1, 0, panels, 0, 0, Co, 1, 0)


@kernel
def _inputs(
    table, side, work, dy, d_n, d_h, d_w, w, dx, x_n, x_h, gated, gate, g_n, g_h,
    N, H, W, Ci, Co, KH, KW, stride, Hx, Wx, ph, pw,
):  # fmt: skip
    """One image at a time: scatter into a bordered work image, which stays in the cache; keep its interior."""
    row = (Wx + 2 * pw) * Ci
    for n in range(N):
        run(table, CLEAR, (Hx + 2 * ph) * row, work)
        _input(table, side, dy + 4 * n * d_n, d_h, d_w, w, work, row, Ci, H, W, Ci, Co, KH, KW, stride)
        for h in range(Hx):
            source = work + 4 * ((h + ph) * row + pw * Ci)
            run(table, COPY, gated, Wx * Ci, source, dx + 4 * (n * x_n + h * x_h), gate + 4 * (n * g_n + h * g_h))


def in_panels(w: np.ndarray) -> np.ndarray:
    """[KH, KW, Ci, Co] in panels over Co."""
    K, Co = w.size // w.shape[-1], w.shape[-1]
    out = scratch("weights", K * padded(Co))
    pack(w.reshape(K, Co), out)
    return out


def forward(x, w, bias, y, mode, stride=1):
    """y = x * w + bias, finished by `mode`."""
    (N, H, W, Co), (KH, KW, Ci, _) = y.shape, w.shape
    _forward(
        table(), mode, address(scratch("side", SIDE)), address(x), *pitches(x), address(in_panels(w)),
        address(y), *pitches(y), address(bias), N, H, W, Ci, Co, KH, KW, stride,
    )  # fmt: skip


def forward_pool(x, w, bias, y, which):
    """y = maxpool(relu(x * w + bias), 2); `which` keeps the cell of each maximum, 4 where ReLU is dead."""
    (KH, KW, Ci, Co), N = w.shape, len(y)
    H, W = x.shape[1] - KH + 1, x.shape[2] - KW + 1
    _forward_pool(
        table(), address(scratch("two rows", 2 * W * Co)), address(x), *pitches(x), address(in_panels(w)),
        address(y), *pitches(y)[:2], address(which), address(bias), N, H, W, Ci, Co, KH, KW,
    )  # fmt: skip


def backward(x, w, dy, dx, dw, db, stride=1, padding=(0, 0), gate=None):
    """dw, db and dx, unless they are None; dx is kept only where `gate` is positive."""
    (N, H, W, Co), (KH, KW, Ci, _), sums = dy.shape, w.shape, scratch("sums", padded(dy.shape[3]))
    side = address(scratch("side", SIDE))
    if dw is not None:
        dw[...] = 0
        sums[...] = 0
        _weights(
            table(), side, address(x), *pitches(x), address(dy), *pitches(dy), address(dw), address(sums),
            N, H, W, Ci, Co, KH, KW, stride, STRIPE,
        )  # fmt: skip
        db[...] = sums[:Co]
    if dx is None:
        return
    weights, (_, Hx, Wx, _), (ph, pw) = scratch("turned weights", KH * KW * padded(Ci) * Co), dx.shape, padding
    pack_turned(w, weights)
    work, through = scratch("image", (Hx + 2 * ph) * (Wx + 2 * pw) * Ci), dx if gate is None else gate
    _inputs(
        table(), side, address(work), address(dy), *pitches(dy), address(weights), address(dx), *pitches(dx)[:2],
        int(gate is not None), address(through), *pitches(through)[:2],
        N, H, W, Ci, Co, KH, KW, stride, Hx, Wx, ph, pw,
    )  # fmt: skip
