"""Convolution in Winograd's domain: 3x3 and 5x5 filters, stride 1, channels in multiples of eight.

Blocks of tiles are transformed, multiplied at each of the 36 points by the transformed filter, and transformed back
(see transforms.py). Tiles that hang over the edge of an image pass through a side buffer, so any image size works.
The gradients are the exact adjoints, with Z = A dY A^T and V = B^T d B:

    dU[xi] = V[xi]^T Z[xi],  dW = G^T dU G        db = Z at the point (1, 1), where a polynomial is the sum of its parts
    dX = B [Z U^T] B^T, added up over the tiles, which overlap
"""

from dlmini.jit import kernel
from dlmini.nn.kernels.filters import FILTERS, filter_gradient, filters, turn
from dlmini.nn.kernels.memory import address, pitches, scratch
from dlmini.nn.kernels.routines import (
    BACK,
    CLEAR,
    COPY,
    GRADIENT_M,
    INPUT,
    MULTIPLY,
    OUTPUT_M,
    OUTPUT_POOL_M,
    SUMS,
    run,
    table,
)
from dlmini.nn.kernels.tile import ADD, STORE
from dlmini.nn.kernels.transforms import OUTPUTS

BLOCK = 48  # tiles at a time: their transforms stay in the second-level cache
GAP = 16  # floats between points: without it all 36 streams fall onto one set of the first-level cache
ONE = 6 * 1 + 1  # the index of the point (1, 1)


def serves(w_shape, stride) -> bool:
    """Whether this file can do the convolution."""
    KH, KW, Ci, Co = w_shape
    return KH == KW and KH in OUTPUTS and stride == 1 and Ci % 8 == 0 and Co % 8 == 0


@kernel
def _place(t, per_image, across, m):
    """Image, row and column of tile t."""
    place = t % per_image
    return t // per_image, place // across * m, place % across * m


@kernel
def _gather(table, slot, size, x, x_h, x_w, rows, columns, C, edge, to, xi):
    """Transform one tile; one that hangs over the edge is first copied to a zeroed side buffer."""
    if rows < size or columns < size:
        run(table, CLEAR, size * size * C, edge)
        for i in range(min(rows, size)):
            run(table, COPY, 0, min(columns, size) * C, x + 4 * i * x_h, edge + 4 * i * size * C, 0)
        x, x_h, x_w = edge, size * C, C
    for c in range(0, C, 8):
        run(table, slot, x + 4 * c, x_h, x_w, to + 4 * c, xi)


@kernel
def _scatter(table, m, mode, C, source, xi, y, y_h, y_w, bias, rows, columns, edge):
    """Transform one tile back; one that hangs over the edge goes through the side buffer."""
    if rows >= m and columns >= m:
        for c in range(0, C, 8):
            run(table, OUTPUT_M + m, mode, source + 4 * c, xi, y + 4 * c, y_h, y_w, bias + 4 * c)
        return
    for c in range(0, C, 8):
        run(table, OUTPUT_M + m, mode, source + 4 * c, xi, edge + 4 * c, m * C, C, bias + 4 * c)
    for i in range(min(rows, m)):
        run(table, COPY, 0, min(columns, m) * C, edge + 4 * i * m * C, y + 4 * i * y_h, 0)


@kernel
def _forward(
    table, m, mode, x, x_n, x_h, x_w, U, y, y_n, y_h, y_w, bias, code, N, H, W, Ci, Co, V, M, edge, block, v_xi, m_xi
):
    """`code` 0: a convolution finished by `mode`; else conv + bias + ReLU + 2x2 max-pool, whose codes go there."""
    across = (W + m - 1) // m
    per_image = (H + m - 1) // m * across
    for first in range(0, N * per_image, block):
        tiles = min(block, N * per_image - first)
        for t in range(tiles):
            n, i, j = _place(first + t, per_image, across, m)
            at_x, down, right = x + 4 * (n * x_n + i * x_h + j * x_w), H - i + 6 - m, W - j + 6 - m
            _gather(table, INPUT, 6, at_x, x_h, x_w, down, right, Ci, edge, V + 4 * t * Ci, v_xi)
        for xi in range(36):
            at_v, at_m, at_u = V + 4 * xi * v_xi, M + 4 * xi * m_xi, U + 4 * xi * Ci * Co
            run(table, MULTIPLY, table, tiles, Co, STORE, 0, at_m, Co, at_v, Ci, 1, 0, at_u, 0, 0, Ci, 1, 0)
        for t in range(tiles):
            n, i, j = _place(first + t, per_image, across, m)
            if code == 0:
                at_y = y + 4 * (n * y_n + i * y_h + j * y_w)
                _scatter(table, m, mode, Co, M + 4 * t * Co, m_xi, at_y, y_h, y_w, bias, H - i, W - j, edge)
                continue
            at_y = y + 4 * (n * y_n + i // 2 * y_h + j // 2 * y_w)
            at_code = code + ((n * (H // 2) + i // 2) * (W // 2) + j // 2) * Co
            for c in range(0, Co, 8):
                at_m, at_c, wide = M + 4 * (t * Co + c), at_code + c, W // 2 * Co
                run(table, OUTPUT_POOL_M + m, at_m, m_xi, at_y + 4 * c, y_h, y_w, at_c, wide, bias + 4 * c)


@kernel
def _products(table, tiles, wanted, U, dU, V, v_xi, M, m_xi, Ci, Co):
    """At each point: dU += V^T M, and then, if the input's gradient is wanted, V = M U^T."""
    for xi in range(36):
        at_v, at_m, to, at_u = V + 4 * xi * v_xi, M + 4 * xi * m_xi, dU + 4 * xi * Ci * Co, U + 4 * xi * Ci * Co
        run(table, MULTIPLY, table, Ci, Co, ADD, 0, to, Co, at_v, 1, Ci, 0, at_m, Co, 0, tiles, 1, 0)
        if wanted:
            run(table, MULTIPLY, table, tiles, Ci, STORE, 0, at_v, Ci, at_m, Co, 1, 0, at_u, 0, 0, Co, 1, 0)


@kernel
def _backward(
    table, m, x, x_n, x_h, x_w, dy, d_n, d_h, d_w, U, dU, db, wanted, work, rows, columns, group,
    dx, dx_n, dx_h, gated, gate, g_n, g_h, N, H, W, Hx, Wx, ph, pw, Ci, Co, V, M, edge, block, v_xi, m_xi,
):  # fmt: skip
    """All gradients at once. The input's is added up tile by tile in bordered work images, whose interiors are kept."""
    across = (W + m - 1) // m
    per_image = (H + m - 1) // m * across
    for n0 in range(0, N, group):
        images = min(group, N - n0)
        run(table, CLEAR, wanted * images * rows * columns * Ci, work)
        for first in range(0, images * per_image, block):
            tiles = min(block, images * per_image - first)
            for t in range(tiles):
                n, i, j = _place(first + t, per_image, across, m)
                at_x, at_d = x + 4 * ((n0 + n) * x_n + i * x_h + j * x_w), dy + 4 * ((n0 + n) * d_n + i * d_h + j * d_w)
                down, right = H - i, W - j
                _gather(table, INPUT, 6, at_x, x_h, x_w, down + 6 - m, right + 6 - m, Ci, edge, V + 4 * t * Ci, v_xi)
                _gather(table, GRADIENT_M + m, m, at_d, d_h, d_w, down, right, Co, edge, M + 4 * t * Co, m_xi)
            for c in range(0, Co, 8):
                run(table, SUMS, 1, tiles, M + 4 * (ONE * m_xi + c), 0, Co, db + 4 * c)
            _products(table, tiles, wanted, U, dU, V, v_xi, M, m_xi, Ci, Co)
            for t in range(tiles * wanted):
                n, i, j = _place(first + t, per_image, across, m)
                at = work + 4 * ((n * rows + i) * columns + j) * Ci
                for c in range(0, Ci, 8):
                    run(table, BACK, V + 4 * (t * Ci + c), v_xi, at + 4 * c, columns * Ci, Ci)
        for t in range(images * Hx * wanted):
            n, h = t // Hx, t % Hx
            source = work + 4 * ((n * rows + h + ph) * columns + pw) * Ci
            to, through = dx + 4 * ((n0 + n) * dx_n + h * dx_h), gate + 4 * ((n0 + n) * g_n + h * g_h)
            run(table, COPY, gated, Wx * Ci, source, to, through)


def _space(Ci, Co):
    """Work space for one block: V, M, the edge tile, and the distances between points."""
    v_xi, m_xi = BLOCK * Ci + GAP, BLOCK * Co + GAP
    V, M = scratch("V", 36 * v_xi), scratch("M", 36 * m_xi)
    return address(V), address(M), address(scratch("edge", 36 * max(Ci, Co))), BLOCK, v_xi, m_xi


def forward(x, w, bias, y, mode, which=None):
    """Twin of direct.forward; with `which` also of direct.forward_pool, where whole tiles fill the image."""
    (r, _, Ci, Co), N = w.shape, len(y)
    H, W = x.shape[1] - r + 1, x.shape[2] - r + 1
    _forward(
        table(), OUTPUTS[r], mode, address(x), *pitches(x), address(filters(w)), address(y), *pitches(y),
        address(bias), 0 if which is None else address(which), N, H, W, Ci, Co, *_space(Ci, Co),
    )  # fmt: skip


def backward(x, w, dy, dx, dw, db, padding=(0, 0), gate=None):
    """Twin of direct.backward."""
    (r, _, Ci, Co), (N, H, W, _), m, wanted = w.shape, dy.shape, OUTPUTS[w.shape[0]], dx is not None
    dU, U = scratch("dU", 36, Ci, Co), filters(turn(w)) if wanted else w
    down, across = -(-H // m), -(-W // m)
    rows, columns, group = down * m + r - 1, across * m + r - 1, min(N, max(1, BLOCK // (down * across)))
    work, to = scratch("image", group * rows * columns * Ci), dx if wanted else x
    through = to if gate is None else gate
    dU[...] = 0
    db[...] = 0
    _backward(
        table(), m, address(x), *pitches(x), address(dy), *pitches(dy), address(U), address(dU), address(db),
        int(wanted), address(work), rows, columns, group, address(to), *pitches(to)[:2],
        int(gate is not None), address(through), *pitches(through)[:2],
        N, H, W, *to.shape[1:3], *padding, Ci, Co, *_space(Ci, Co),
    )  # fmt: skip
    filter_gradient(dU, FILTERS[r], dw)
