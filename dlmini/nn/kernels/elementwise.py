"""The compiled twins of nn/layers.py and nn/losses.py: same names, same signatures, one pass over memory each.

Matrix products stay with BLAS. Arrays of any layout are served; dense ones without a copy.
"""

import numpy as np

from dlmini.jit import kernel
from dlmini.nn.kernels.memory import address
from dlmini.nn.kernels.routines import COPY, SUM, SUM_BACK, run, table


def flat(*arrays):
    """Dense float32 arrays as 1-D views, or None when one of them is not dense."""
    if all(a.flags.c_contiguous and a.dtype == np.float32 for a in arrays):
        return [a.reshape(-1) for a in arrays]
    return None


def through(kernel, inputs, out):
    """Run a 1-D kernel on arrays of any layout; scattered ones pass through dense copies."""
    dense = flat(*inputs, out)
    if dense:
        kernel(*dense)
        return
    result = np.empty(out.size, np.float32)
    kernel(*[np.ascontiguousarray(a, np.float32).reshape(-1) for a in inputs], result)
    out[...] = result.reshape(out.shape)


@kernel
def _add_bias(y, b, relu):
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            value = y[i, j] + b[j]
            y[i, j] = 0 if relu and value < 0 else value


@kernel
def _gate(x, dx):
    for i in range(x.size):
        dx[i] = dx[i] if x[i] > 0 else 0


@kernel
def _column_sums(rows, sums):
    sums[:] = 0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            sums[j] += rows[i, j]


def dense_forward(x, w, b, y, relu=False):
    place = y if y.flags.c_contiguous else np.empty_like(y)  # a part of a longer row
    np.dot(x, w, out=place)
    _add_bias(place, b, relu)
    if place is not y:
        y[...] = place


def dense_backward(x, w, dy, dx, dw, db, gate=False):
    dy = np.ascontiguousarray(dy)
    if dw is not None:
        np.dot(x.T, dy, out=dw)
        _column_sums(dy, db)
    if dx is not None:
        np.dot(dy, w.T, out=dx)
        if gate:
            _gate(x.reshape(-1), dx.reshape(-1))


def relu_forward(x, y):
    np.maximum(x, 0, out=y)


@kernel
def _rows(table, routine, asked, a, a_n, a_h, b, b_n, b_h, c, c_n, c_h, N, H, count):
    """A routine on each run of `count` floats of three arrays."""
    for n in range(N):
        for h in range(H):
            at_a, at_b, at_c = a + 4 * (n * a_n + h * a_h), b + 4 * (n * b_n + h * b_h), c + 4 * (n * c_n + h * c_h)
            run(table, routine, asked, count, at_a, at_b, at_c)


def by_rows(routine, asked, *arrays):
    """Run a routine on arrays that are dense, or images of dense rows; False if one of them is neither.

    A loop of Numba's that reads what it writes, as all of these do, would go one number at a time.
    """
    if any(a.dtype != np.float32 for a in arrays):
        return False
    if all(a.flags.c_contiguous for a in arrays):
        N, H, count, pitches = 1, 1, arrays[0].size, [(0, 0)] * 3
    elif all(a.ndim == 4 and a.strides[3] == 4 and a.strides[2] == 4 * a.shape[3] for a in arrays):
        (N, H, W, C), pitches = arrays[0].shape, [(a.strides[0] // 4, a.strides[1] // 4) for a in arrays]
        count = W * C
    else:
        return False
    (a, b, c), (at_a, at_b, at_c) = map(address, arrays), pitches
    _rows(table(), routine, int(asked), a, *at_a, b, *at_b, c, *at_c, N, H, count)
    return True


def relu_backward(y, dy, dx):
    if not by_rows(COPY, True, dy, dx, y):
        dx[...] = np.where(y > 0, dy, np.float32(0))


def tanh_forward(x, y):
    np.tanh(x, out=y)


@kernel
def _tanh_backward(y, dy, dx):
    for i in range(y.size):
        dx[i] = dy[i] * (1 - y[i] * y[i])


def tanh_backward(y, dy, dx):
    through(_tanh_backward, (y, dy), dx)


def sum_forward(a, b, y, relu=False):
    if not by_rows(SUM, relu, a, b, y):
        np.add(a, b, out=y)
        if relu:
            np.maximum(y, 0, out=y)


def sum_backward(dy, dx, x=None):
    if not by_rows(SUM_BACK, x is not None, dy, dx, dy if x is None else x):
        np.add(dy, dx, out=dx)
        if x is not None:
            relu_backward(x, dx, dx)


@kernel
def _dropout(coins, keep, share):
    for i in range(coins.size):
        coins[i] = share if coins[i] < keep else 0


def dropout_forward(x, y, mask, keep):
    _dropout(mask.reshape(-1), np.float32(keep), np.float32(1) / np.float32(keep))
    np.multiply(x, mask, out=y)


def dropout_backward(dy, mask, dx):
    np.multiply(dy, mask, out=dx)


@kernel
def _softmax_cross_entropy(scores, labels, dscores, count):
    M, K = scores.shape
    loss = 0.0
    for i in range(M):
        if labels[i] >= K:
            dscores[i] = 0
            continue
        top = scores[i, 0]
        for j in range(1, K):
            top = max(top, scores[i, j])
        total = np.float32(0)
        for j in range(K):
            dscores[i, j] = np.exp(scores[i, j] - top)
            total += dscores[i, j]
        loss += np.log(total) - (scores[i, labels[i]] - top)
        scale = np.float32(1) / (total * np.float32(count))
        for j in range(K):
            dscores[i, j] *= scale
        dscores[i, labels[i]] -= np.float32(1) / np.float32(count)
    return loss / count


def softmax_cross_entropy(scores, labels, dscores, count):
    return _softmax_cross_entropy(scores, labels.astype(np.int64, copy=False), dscores, count)


def mean_squares(scores, targets, dscores, count):
    np.subtract(scores, targets, out=dscores)
    loss = 0.5 * float(np.vdot(dscores, dscores)) / count
    dscores *= np.float32(1 / count)
    return loss
