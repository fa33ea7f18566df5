"""The compiled twins of nn/conv.py: same names, same signatures; each picks the cheaper of two ways."""

import numpy as np

from dlmini.nn.kernels import direct, winograd
from dlmini.nn.kernels.memory import dense, scratch
from dlmini.nn.kernels.panels import padded
from dlmini.nn.kernels.tile import BIAS, BIAS_RELU, STORE

ROOM = 32  # bytes that may be read behind the last pixel of dy where its channels do not fill a vector


def interior(image, border):
    rows, columns = border
    return image[:, rows : image.shape[1] - rows, columns : image.shape[2] - columns]


def into(y, fill):
    """Let `fill` write y (None: nothing is wanted), by way of a compact copy if its pixels are scattered in memory."""
    if y is None or (y.dtype == np.float32 and y.strides[3] == 4 and y.strides[2] == 4 * y.shape[3]):
        fill(y)
    else:
        compact = np.empty(y.shape, np.float32)
        fill(compact)
        y[...] = compact


def roomy(bias):
    """The bias with room for a whole last vector."""
    room = scratch("bias", padded(len(bias)))
    room[: len(bias)] = bias
    return room


def conv_forward(x, w, b, y, stride=1, relu=False):
    x, w, bias, mode = dense(x), np.ascontiguousarray(w), roomy(b), BIAS_RELU if relu else BIAS
    if winograd.serves(w.shape, stride):
        into(y, lambda y: winograd.forward(x, w, bias, y, mode))
    else:
        into(y, lambda y: direct.forward(x, w, bias, y, mode, stride))


def conv_pool_forward(x, w, b, y, which):
    """For channels in multiples of eight."""
    x, w, bias = dense(x), np.ascontiguousarray(w), roomy(b)
    if winograd.serves(w.shape, 1):
        into(y, lambda y: winograd.forward(x, w, bias, y, STORE, which))
    else:
        into(y, lambda y: direct.forward_pool(x, w, bias, y, which))


def conv_backward(x, w, dy, dx, dw, db, stride=1, padding=(0, 0), gate=False):
    x, w, dy = dense(x), np.ascontiguousarray(w), dense(dy, ROOM if dy.shape[3] % 8 else 0)
    through = interior(x, padding) if gate else None
    if winograd.serves(w.shape, stride):
        into(dx, lambda dx: winograd.backward(x, w, dy, dx, dw, db, padding, through))
    else:
        into(dx, lambda dx: direct.backward(x, w, dy, dx, dw, db, stride, padding, through))
