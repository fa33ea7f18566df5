"""Convolution in Winograd's domain: 3x3 and 5x5 filters, stride 1, channels in multiples of eight.

Blocks of tiles are transformed, multiplied at each of the n n points by the transformed filter, and transformed back
(see points.py). Tiles that hang over the edge of an image pass through a side buffer, so any image size works.
The gradients are the exact adjoints, with Z = A dY A^T and V = B^T d B:

    dU[xi] = V[xi]^T Z[xi],  dW = G^T dU G        db = Z at the point (1, 1), where a polynomial is the sum of its parts
    dX = B [Z U^T] B^T, added up over the tiles, which overlap
"""

import numpy as np

from dlmini.jit import kernel
from dlmini.nn.kernels.filters import filters, taps, turn
from dlmini.nn.kernels.memory import address, pitches, scratch
from dlmini.nn.kernels.points import ONE, OUTPUTS, POINTS, tile
from dlmini.nn.kernels.routines import BACK_R, CLEAR, COPY, GRADIENT_R, INPUT_R, MULTIPLY, OUTPUT_POOL_R, OUTPUT_R, SUMS

from dlmini.nn.kernels.routines import MARK, MASK, SEEN_R, SILENCE, run, table  # isort: skip
from dlmini.nn.kernels.tile import ADD, STORE
from dlmini.nn.kernels.zeros import pitch

BLOCK = {3: 48, 5: 24}  # tiles at a time, by filter size: their transforms stay in the second-level cache
GAP = 16  # floats between points: without it all streams fall onto one set of the first-level cache


def serves(w_shape, stride) -> bool:
    """Whether this file can do the convolution."""
    KH, KW, Ci, Co = w_shape
    return KH == KW and KH in POINTS and stride == 1 and Ci % 8 == 0 and Co % 8 == 0


@kernel(inline=True)
def _place(t, down, across):
    """Image, row and column of tile t."""
    return t // (down * across), t // across % down * OUTPUTS, t % across * OUTPUTS


@kernel(inline=True)
def _gather(table, slot, size, x, x_h, x_w, rows, columns, C, edge, to, xi):
    """Transform one tile; one that hangs over the edge is first copied to a zeroed side buffer."""
    if rows < size or columns < size:
        run(table, CLEAR, size * size * C, edge)
        for i in range(min(rows, size)):
            run(table, COPY, 0, min(columns, size) * C, x + 4 * i * x_h, edge + 4 * i * size * C, 0)
        x, x_h, x_w = edge, size * C, C
    run(table, slot, C, x, x_h, x_w, to, xi)


@kernel(inline=True)
def _scatter(table, r, mode, C, source, xi, y, y_h, y_w, bias, mask, rows, columns, edge):
    """Transform one tile back; one that hangs over the edge goes through the side buffer."""
    whole = rows >= OUTPUTS and columns >= OUTPUTS
    to, to_h, to_w = (y, y_h, y_w) if whole else (edge, OUTPUTS * C, C)
    run(table, OUTPUT_R + r, C, mode, source, xi, to, to_h, to_w, bias, mask)
    for i in range(0 if whole else min(rows, OUTPUTS)):
        run(table, COPY, 0, min(columns, OUTPUTS) * C, edge + 4 * i * to_h, y + 4 * i * y_h, 0)


@kernel(inline=True)
def _scatter_pool(table, r, C, source, xi, y, y_h, code, code_h, bias, mask, rows, columns, edge):
    """The same with bias, ReLU and pooling; `rows` and `columns` of the pooled image are left. Codes are bytes."""
    half = OUTPUTS // 2
    whole = rows >= half and columns >= half
    to, to_h = (y, y_h) if whole else (edge, half * C)
    at_code, step = (code, code_h) if whole else (edge + 4 * half * half * C, half * C)
    run(table, OUTPUT_POOL_R + r, C, source, xi, to, to_h, C, at_code, step, bias, mask)
    for i in range(0 if whole else min(rows, half)):
        count = min(columns, half) * C
        run(table, COPY, 0, count, edge + 4 * i * to_h, y + 4 * i * y_h, 0)
        run(table, COPY, 0, count // 4, at_code + i * step, code + i * code_h, 0)


@kernel(inline=True)
def _look(table, r, i, H, W, C, x, x_h, x_w, marks, seen, map_h):
    """What the results of a row of tiles see (see zeros.py); rows that the tiles above have shared are marked."""
    shared = r - 1 if i > 0 else 0
    rows, new = min(OUTPUTS, H - i), marks + (i + shared) * map_h
    run(table, MARK, rows + r - 1 - shared, W + r - 1, C, x + 4 * shared * x_h, x_h, x_w, new, map_h)
    run(table, SEEN_R + r, rows, W, marks + i * map_h, map_h, seen, map_h)


@kernel
def _forward(
    table, r, mode, x, x_n, x_h, x_w, U, y, y_n, y_h, y_w, bias, code, N, H, W, Ci, Co, V, M, edge, block, v_xi, m_xi,
    marks, seen, kept, map_n, map_h, mask,
):  # fmt: skip
    """`code` 0: a convolution finished by `mode`; else conv + bias + ReLU + 2x2 max-pool, whose codes go there."""
    n, down, across = r + OUTPUTS - 1, (H + OUTPUTS - 1) // OUTPUTS, (W + OUTPUTS - 1) // OUTPUTS
    for first in range(0, N * down * across, block):
        tiles = min(block, N * down * across - first)
        for t in range(tiles):
            image, i, j = _place(first + t, down, across)
            at_x, to = x + 4 * (image * x_n + i * x_h + j * x_w), V + 4 * t * Ci
            if j == 0:
                _look(table, r, i, H, W, Ci, at_x, x_h, x_w, marks, seen + image % kept * map_n + i * map_h, map_h)
            _gather(table, INPUT_R + r, n, at_x, x_h, x_w, H - i + r - 1, W - j + r - 1, Ci, edge, to, v_xi)
        for xi in range(n * n):
            at_v, at_m, at_u = V + 4 * xi * v_xi, M + 4 * xi * m_xi, U + 4 * xi * Ci * Co
            run(table, MULTIPLY, table, tiles, Co, STORE, 0, at_m, Co, at_v, Ci, 1, 0, at_u, 0, 0, Ci, 1, 0)
        for t in range(tiles):
            image, i, j = _place(first + t, down, across)
            at_m = M + 4 * t * Co
            run(table, MASK, seen + image % kept * map_n + i * map_h + j, map_h, mask)
            if code == 0:
                at_y = y + 4 * (image * y_n + i * y_h + j * y_w)
                _scatter(table, r, mode, Co, at_m, m_xi, at_y, y_h, y_w, bias, mask, H - i, W - j, edge)
            else:
                i, j, high, wide = i // 2, j // 2, H // 2, W // 2
                at_y, at_code = y + 4 * (image * y_n + i * y_h + j * y_w), code + ((image * high + i) * wide + j) * Co
                left, right = high - i, wide - j
                _scatter_pool(table, r, Co, at_m, m_xi, at_y, y_h, at_code, wide * Co, bias, mask, left, right, edge)


@kernel(inline=True)
def _products(table, points, tiles, weighed, wanted, U, dU, begun, V, v_xi, M, m_xi, Ci, Co):
    """At each point: if `weighed`, dU += V^T M, and then, if the input's gradient is wanted, V = M U^T."""
    for xi in range(points):
        at_v, at_m, to, at_u = V + 4 * xi * v_xi, M + 4 * xi * m_xi, dU + 4 * xi * Ci * Co, U + 4 * xi * Ci * Co
        if weighed:
            mode = ADD if begun else STORE
            run(table, MULTIPLY, table, Ci, Co, mode, 0, to, Co, at_v, 1, Ci, 0, at_m, Co, 0, tiles, 1, 0)
        if wanted:
            run(table, MULTIPLY, table, tiles, Ci, STORE, 0, at_v, Ci, at_m, Co, 1, 0, at_u, 0, 0, Co, 1, 0)


@kernel(inline=True)
def _finish(
    table, r, images, low, high, top, work, rows, columns, dx, dx_n, dx_h, gated, gate, g_n, g_h, Wx, ph, pw, Ci,
    marks, map_n, map_h, seen,
):  # fmt: skip
    """Rows low to high of the input's gradient are complete: out of the work images, whose first row is `top`."""
    for image in range(images):
        for h in range(low, high):
            source = work + 4 * ((image * rows + h + ph - top) * columns + pw) * Ci
            to, through = dx + 4 * (image * dx_n + h * dx_h), gate + 4 * (image * g_n + h * g_h)
            run(table, COPY, gated, Wx * Ci, source, to, through)
        if low < high:
            run(table, SEEN_R + r, high - low, Wx, marks + image * map_n + (low + ph) * map_h + pw, map_h, seen, map_h)
            run(table, SILENCE, high - low, Wx, Ci, seen, map_h, dx + 4 * (image * dx_n + low * dx_h), dx_h)


@kernel
def _backward(
    table, r, x, x_n, x_h, x_w, dy, d_n, d_h, d_w, U, dU, db, weighed, wanted, work, rows, columns, group, strip,
    dx, dx_n, dx_h, gated, gate, g_n, g_h, N, H, W, Hx, Wx, ph, pw, Ci, Co, V, M, edge, block, v_xi, m_xi,
    marks, map_n, map_h, seen,
):  # fmt: skip
    """Gradients of the filter (`weighed`) and of the input (`wanted`), or one of them.

    The input's is added up tile by tile in work images with a border: as many images as fill a block of tiles, or of a
    large image a strip of rows of tiles, which stays in the cache. Strips overlap by r - 1 rows.
    """
    n, down, across = r + OUTPUTS - 1, (H + OUTPUTS - 1) // OUTPUTS, (W + OUTPUTS - 1) // OUTPUTS
    for part in range((N + group - 1) // group * ((down + strip - 1) // strip)):
        n0, i0 = part // ((down + strip - 1) // strip) * group, part % ((down + strip - 1) // strip) * strip
        images, high, top = min(group, N - n0), min(strip, down - i0), OUTPUTS * i0
        kept = (r - 1) * columns * Ci if i0 else 0  # numbers of the rows that the strip above has shared
        run(table, COPY, 0, wanted * kept, work + 4 * OUTPUTS * strip * columns * Ci, work, 0)
        run(table, CLEAR, wanted * (images * rows * columns * Ci - kept), work + 4 * kept)
        for first in range(0, images * high * across, block):
            tiles = min(block, images * high * across - first)
            for t in range(tiles):
                image, i, j = _place(first + t, high, across)
                i += top
                at_x, to = x + 4 * ((n0 + image) * x_n + i * x_h + j * x_w), V + 4 * t * Ci
                if weighed:
                    _gather(table, INPUT_R + r, n, at_x, x_h, x_w, H - i + r - 1, W - j + r - 1, Ci, edge, to, v_xi)
                at_d, to = dy + 4 * ((n0 + image) * d_n + i * d_h + j * d_w), M + 4 * t * Co
                if wanted and j == 0:
                    inner = marks + image * map_n + (i + r - 1) * map_h + r - 1
                    run(table, MARK, min(OUTPUTS, H - i), W, Co, at_d, d_h, d_w, inner, map_h)
                _gather(table, GRADIENT_R + r, OUTPUTS, at_d, d_h, d_w, H - i, W - j, Co, edge, to, m_xi)
            for c in range(0, Co * weighed, 8):
                run(table, SUMS, 1, tiles, M + 4 * ((n * ONE + ONE) * m_xi + c), 0, Co, db + 4 * c)
            _products(table, n * n, tiles, weighed, wanted, U, dU, part + first, V, v_xi, M, m_xi, Ci, Co)
            for t in range(tiles * wanted):
                image, i, j = _place(first + t, high, across)
                to = work + 4 * ((image * rows + i) * columns + j) * Ci
                run(table, BACK_R + r, Ci, V + 4 * t * Ci, v_xi, to, columns * Ci, Ci)
        if wanted:
            last = Hx if i0 + high == down else min(Hx, top + OUTPUTS * high - ph)
            at_dx, at_gate = dx + 4 * n0 * dx_n, gate + 4 * n0 * g_n
            _finish(
                table, r, images, max(0, top - ph), last, top, work, rows, columns, at_dx, dx_n, dx_h, gated, at_gate,
                g_n, g_h, Wx, ph, pw, Ci, marks, map_n, map_h, seen,
            )  # fmt: skip


def _space(r, Ci, Co):
    """Work space for one block: V, M, the edge tile, and the distances between points."""
    block, points = BLOCK[r], tile(r) ** 2
    v_xi, m_xi = block * Ci + GAP, block * Co + GAP
    V, M, edge = scratch("V", points * v_xi), scratch("M", points * m_xi), scratch("edge", points * max(Ci, Co))
    return address(V), address(M), address(edge), block, v_xi, m_xi


def _forward_maps(r, H, W):
    """Work space for zeros.py: the marks of one image, and what is seen in all images of a block."""
    rows, columns = -(-H // OUTPUTS) * OUTPUTS, -(-W // OUTPUTS) * OUTPUTS
    kept, map_h = BLOCK[r] * OUTPUTS * OUTPUTS // (rows * columns) + 2, pitch(columns + r - 1)
    marks = scratch("marks", (H + r - 1) * map_h, dtype=np.uint8)
    seen, mask = scratch("seen", kept * rows * map_h, dtype=np.uint8), scratch("mask", OUTPUTS * OUTPUTS)
    return address(marks), address(seen), kept, rows * map_h, map_h, address(mask)


def _backward_maps(r, H, W, group):
    """The marks of a group's gradients, in a frame of zeros; and what the input's gradient sees of an image."""
    rows, map_h = H + 2 * (r - 1), pitch(W + 2 * (r - 1))
    marks, seen = (scratch(name, n * map_h, dtype=np.uint8) for name, n in (("marks", group * rows), ("seen", rows)))
    marks[...] = 0
    return address(marks), rows * map_h, map_h, address(seen)


def forward(x, w, bias, y, mode, which=None):
    """Twin of direct.forward; with `which` also of direct.forward_pool."""
    (r, _, Ci, Co), N = w.shape, len(y)
    H, W = x.shape[1] - r + 1, x.shape[2] - r + 1
    _forward(
        table(), r, mode, address(x), *pitches(x), address(filters(w)), address(y), *pitches(y),
        address(bias), 0 if which is None else address(which), N, H, W, Ci, Co, *_space(r, Ci, Co),
        *_forward_maps(r, H, W),
    )  # fmt: skip


def backward(x, w, dy, dx, dw, db, padding=(0, 0), gate=None):
    """Twin of direct.backward."""
    (r, _, Ci, Co), (N, H, W, _), weighed, wanted = w.shape, dy.shape, dw is not None, dx is not None
    db = db if weighed else scratch("no sums", Co)
    dU, U = scratch("dU", tile(r) ** 2, Ci, Co), filters(turn(w)) if wanted else w
    down, across = -(-H // OUTPUTS), -(-W // OUTPUTS)
    group, strip = min(N, max(1, BLOCK[r] // (down * across))), min(down, max(1, BLOCK[r] // across))
    rows, columns = strip * OUTPUTS + r - 1, across * OUTPUTS + r - 1
    work, to = scratch("image", group * rows * columns * Ci), dx if wanted else x
    through = to if gate is None else gate
    db[...] = 0
    _backward(
        table(), r, address(x), *pitches(x), address(dy), *pitches(dy), address(U), address(dU), address(db),
        int(weighed), int(wanted), address(work), rows, columns, group, strip, address(to), *pitches(to)[:2],
        int(gate is not None), address(through), *pitches(through)[:2],
        N, H, W, *to.shape[1:3], *padding, Ci, Co, *_space(r, Ci, Co),
        *_backward_maps(r, H, W, group),
    )  # fmt: skip
    if weighed:
        taps(dU, dw)
