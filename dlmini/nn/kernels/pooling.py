"""The compiled twins of nn/pool.py: same names, same signatures."""

import numpy as np

from dlmini.jit import kernel
from dlmini.nn.kernels.convolution import conv_pool_forward
from dlmini.nn.kernels.memory import address, dense, pitches
from dlmini.nn.kernels.panels import peek, poke
from dlmini.nn.kernels.routines import MAXIMUM, UNPOOL, run, table

__all__ = [
    "avgpool_backward",
    "avgpool_forward",
    "conv_pool_forward",
    "image_mean_backward",
    "image_mean_forward",
    "maxpool_backward",
    "maxpool_forward",
    "unpool",
]


@kernel
def _maxpool_forward(x, x_n, x_h, x_w, y, y_n, y_h, y_w, which, size, stride):
    N, H, W, C = which.shape
    for n in range(N):
        for h in range(H):
            for w in range(W):
                source, target = (
                    x + 4 * (n * x_n + h * stride * x_h + w * stride * x_w),
                    y + 4 * (n * y_n + h * y_h + w * y_w),
                )
                for c in range(C):
                    best, place = peek(source + 4 * c), 0
                    for cell in range(1, size * size):
                        value = peek(source + 4 * (cell // size * x_h + cell % size * x_w + c))
                        if value > best:
                            best, place = value, cell
                    poke(target + 4 * c, best)
                    which[n, h, w, c] = place


@kernel
def _spread(dy, d_n, d_h, d_w, which, dx, x_n, x_h, x_w, N, H, W, C, size, stride, mean):
    """Send each gradient to the cell its maximum came from, or, if `mean`, an equal share to every cell."""
    for n in range(N):
        for h in range(H):
            for w in range(W):
                target = dx + 4 * (n * x_n + h * stride * x_h + w * stride * x_w)
                source = dy + 4 * (n * d_n + h * d_h + w * d_w)
                for c in range(C):
                    value = peek(source + 4 * c)
                    for cell in range(size * size):
                        at = target + 4 * (cell // size * x_h + cell % size * x_w + c)
                        if mean:
                            poke(at, peek(at) + value / np.float32(size * size))
                        elif which[n, h, w, c] == cell:
                            poke(at, peek(at) + value)


@kernel
def _avgpool_forward(x, x_n, x_h, x_w, y, y_n, y_h, y_w, N, H, W, C, size, stride):
    for n in range(N):
        for h in range(H):
            for w in range(W):
                source = x + 4 * (n * x_n + h * stride * x_h + w * stride * x_w)
                for c in range(C):
                    total = np.float32(0)
                    for cell in range(size * size):
                        total += peek(source + 4 * (cell // size * x_h + cell % size * x_w + c))
                    poke(y + 4 * (n * y_n + h * y_h + w * y_w + c), total / np.float32(size * size))


@kernel
def _unpool(table, dy, d_n, d_h, code, dx, x_n, x_h, N, H, W, C):
    for n in range(N):
        for h in range(H):
            for w in range(W):
                for c in range(0, C, 8):
                    source = dy + 4 * (n * d_n + h * d_h + w * C + c)
                    target = dx + 4 * (n * x_n + 2 * h * x_h + 2 * w * C + c)
                    run(table, UNPOOL, source, code + ((n * H + h) * W + w) * C + c, target, x_h, C)


@kernel
def _maximum(table, x, x_n, x_h, x_w, y, y_n, y_h, y_w, code, N, H, W, C):
    for n in range(N):
        for h in range(H):
            for w in range(W):
                source, to = x + 4 * (n * x_n + 2 * h * x_h + 2 * w * x_w), y + 4 * (n * y_n + h * y_h + w * y_w)
                for c in range(0, C, 8):
                    run(table, MAXIMUM, source + 4 * c, x_h, x_w, to + 4 * c, code + ((n * H + h) * W + w) * C + c)


def halves(size, stride, *images):
    """Whether 2x2 windows of whole vectors are pooled: the usual case has routines of its own."""
    return size == stride == 2 and all(i.shape[3] % 8 == 0 and i.strides[3] == 4 for i in images)


def maxpool_forward(x, y, which, size=2, stride=2):
    x = dense(x)
    if halves(size, stride, x, y):
        _maximum(table(), address(x), *pitches(x), address(y), *pitches(y), address(which), *y.shape)
        return
    _maxpool_forward(address(x), *pitches(x), address(y), *pitches(y), which, size, stride)


def maxpool_backward(dy, which, dx, size=2, stride=2):
    if halves(size, stride, dx) and pitches(dx)[2] == dx.shape[3]:
        unpool(dy, which, dx)
        return
    dx[...] = 0
    dy = dense(dy)
    _spread(address(dy), *pitches(dy), which, address(dx), *pitches(dx), *dy.shape, size, stride, False)


def avgpool_forward(x, y, size=2, stride=2):
    x = dense(x)
    _avgpool_forward(address(x), *pitches(x), address(y), *pitches(y), *y.shape, size, stride)


NOWHERE = np.zeros((1, 1, 1, 1), np.uint8)


def avgpool_backward(dy, dx, size=2, stride=2):
    dx[...] = 0
    dy = dense(dy)
    _spread(address(dy), *pitches(dy), NOWHERE, address(dx), *pitches(dx), *dy.shape, size, stride, True)


def image_mean_forward(x, y):
    np.mean(x, axis=(1, 2), keepdims=True, out=y)


def image_mean_backward(dy, dx):
    np.divide(dy, np.float32(dx.shape[1] * dx.shape[2]), out=dx)


def unpool(dy, which, dx):
    """For channels in multiples of eight; rows and columns that no window reaches become zero."""
    _, H, W, C = dy.shape
    dx[:, 2 * H :] = 0
    dx[:, :, 2 * W :] = 0
    dy = dense(dy)
    _unpool(table(), address(dy), *pitches(dy)[:2], address(which), address(dx), *pitches(dx)[:2], len(dy), H, W, C)
