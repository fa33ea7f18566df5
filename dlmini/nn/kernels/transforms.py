"""Winograd's transforms of 6x6 tiles, eight channels at a time.

A convolution of a tile d with a filter g (r x r), m x m outputs, m + r - 1 = 6, is a product of polynomials; taken at
the six points 0, 1, -1, 2, -2 and infinity it needs 36 multiplications instead of m m r r (144 for a 3x3 filter, m = 4;
100 for a 5x5 filter, m = 2):

    Y = A^T [ (G g G^T) * (B^T d B) ] A

Lavin and Gray, Fast algorithms for convolutional neural networks, 2016.
"""

import numpy as np

from dlmini.nn.kernels import memory
from dlmini.nn.kernels.routines import BACK, GRADIENT_M, INPUT, OUTPUT_M, OUTPUT_POOL_M, register
from dlmini.nn.kernels.tile import BIAS_RELU
from dlmini.nn.kernels.vector import BYTES, INT, INTS, Vectors

TILE = 6
OUTPUTS = {3: 4, 5: 2}  # outputs per tile side, by filter size
POINTS = (0, 1, -1, 2, -2)
SCALES = (1 / 4, -1 / 6, -1 / 6, 1 / 24, 1 / 24)
BT = [[4, 0, -5, 0, 1, 0], [0, -4, -4, 1, 1, 0], [0, 4, -4, -1, 1, 0]]
BT += [[0, -2, -1, 2, 1, 0], [0, 2, -1, -2, 1, 0], [0, 4, 0, -5, 0, 1]]


def filter_matrix(r: int) -> np.ndarray:
    """G: the filter's polynomial at the six points, with the scales that make B^T integral."""
    finite = [[scale * p**j for j in range(r)] for p, scale in zip(POINTS, SCALES, strict=True)]
    return np.array([*finite, [0] * (r - 1) + [1]], np.float32)


def output_matrix(m: int) -> list[list[int]]:
    """A^T: the m coefficients of the product that are outputs."""
    return [[p**i for p in POINTS] + [int(i == m - 1)] for i in range(m)]


def transposed(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def _product(v8, matrix, xs):
    """matrix @ xs; two rows that differ only in signs share their even and odd sums."""
    out = [None] * len(matrix)
    for r, row in enumerate(matrix):
        if out[r] is not None:
            continue
        mates = [q for q in range(r + 1, len(matrix)) if [abs(c) for c in matrix[q]] == [abs(c) for c in row]]
        if not mates:
            out[r] = v8.combine(row, xs)
            continue
        mate = matrix[mates[0]]
        even = v8.combine([c if c == d else 0 for c, d in zip(row, mate, strict=True)], xs)
        odd = v8.combine([c if c != d else 0 for c, d in zip(row, mate, strict=True)], xs)
        out[r], out[mates[0]] = v8.add(even, odd), v8.sub(even, odd)
    return out


def sandwich(v8, matrix, tile):
    """matrix @ tile @ matrix.T for a square of vectors."""
    columns = [_product(v8, matrix, column) for column in transposed(tile)]
    return [_product(v8, matrix, row) for row in transposed(columns)]


def _square(v8, start, size, row, pixel):
    return [[v8.at(start, v8.times(i, row), v8.times(j, pixel)) for j in range(size)] for i in range(size)]


def _spread(v8, start, xi):
    return [[v8.at(start, v8.times(TILE * i + j, xi)) for j in range(TILE)] for i in range(TILE)]


def _into_tiles(builder, matrix, src, row, pixel, dst, xi):
    v8 = Vectors(builder)
    inputs = _square(v8, src, len(matrix[0]), row, pixel)
    results = sandwich(v8, matrix, [[v8.load(a) for a in line] for line in inputs])
    for values, targets in zip(results, _spread(v8, dst, xi), strict=True):
        for value, target in zip(values, targets, strict=True):
            v8.store(value, target)


def emit_input(builder, src, row, pixel, dst, xi):
    """dst[xi] = (B^T d B)[xi] for one 6x6 tile of an image."""
    _into_tiles(builder, BT, src, row, pixel, dst, xi)


def emit_gradient(m):
    """dst[xi] = (A dY A^T)[xi] for one m x m tile of an output's gradient."""
    return lambda builder, *args: _into_tiles(builder, transposed(output_matrix(m)), *args)


def emit_back(builder, src, xi, dst, row, pixel):
    """dst += B M B^T: the adjoint of `emit_input`, one 6x6 tile of an image's gradient."""
    v8 = Vectors(builder)
    values = sandwich(v8, transposed(BT), [[v8.load(a) for a in line] for line in _spread(v8, src, xi)])
    for line, targets in zip(values, _square(v8, dst, TILE, row, pixel), strict=True):
        for value, target in zip(line, targets, strict=True):
            v8.store(v8.add(value, v8.load(target)), target)


def emit_output(m):
    """A^T M A + bias to an image, through ReLU if the mode is BIAS_RELU."""

    def emit(builder, mode, src, xi, dst, row, pixel, bias):
        v8 = Vectors(builder)
        sums = sandwich(v8, output_matrix(m), [[v8.load(a) for a in line] for line in _spread(v8, src, xi)])
        floor = builder.select(builder.icmp_signed("==", mode, INT(BIAS_RELU)), v8.fill(0.0), v8.fill(float("-inf")))
        for line, targets in zip(sums, _square(v8, dst, m, row, pixel), strict=True):
            for value, target in zip(line, targets, strict=True):
                v8.store(v8.at_least(floor, v8.add(value, v8.load(bias))), target)

    return emit


def pool_four(v8, four, bias, dst, code):
    """relu(max + bias) of four vectors, and which of them it was: 0..3, or 4 where ReLU is dead."""
    best, which = four[0], v8.fill(0, INTS)
    for t in (1, 2, 3):
        better = v8.above(four[t], best)
        best, which = v8.b.select(better, four[t], best), v8.b.select(better, v8.fill(t, INTS), which)
    best = v8.add(best, v8.load(bias))
    dead = v8.b.fcmp_ordered("<=", best, v8.fill(0.0))
    v8.store(v8.b.select(dead, v8.fill(0.0), best), dst)
    v8.store(v8.b.trunc(v8.b.select(dead, v8.fill(4, INTS), which), BYTES), code, align=1)


def emit_output_pool(m):
    """A^T M A + bias, ReLU and 2x2 max-pool in registers: the full-resolution map is never stored."""

    def emit(builder, src, xi, dst, row, pixel, code, code_row, bias):
        v8 = Vectors(builder)
        y = sandwich(v8, output_matrix(m), [[v8.load(a) for a in line] for line in _spread(v8, src, xi)])
        for i in range(m // 2):
            for j in range(m // 2):
                four = [y[2 * i][2 * j], y[2 * i][2 * j + 1], y[2 * i + 1][2 * j], y[2 * i + 1][2 * j + 1]]
                at_code = builder.add(code, builder.add(v8.times(i, code_row), v8.times(j, pixel)))
                pool_four(v8, four, bias, v8.at(dst, v8.times(i, row), v8.times(j, pixel)), at_code)

    return emit


def _image(start, size, row, pixel):
    return memory.grid(start, (size, size, 8), row, pixel, 1)


def _tiles(start, xi):
    return memory.grid(start, (6, 6, 8), 6 * xi, xi, 1)


def _both(matrix, tile):
    return np.einsum("ai,bj,ijc->abc", matrix, matrix, tile)


def emulate_into_tiles(matrix):
    def emulate(src, row, pixel, dst, xi):
        _tiles(dst, xi)[...] = _both(matrix, _image(src, len(matrix[0]), row, pixel))

    return emulate


def emulate_back(src, xi, dst, row, pixel):
    image = _image(dst, TILE, row, pixel)
    image += _both(transposed(BT), _tiles(src, xi)).astype(np.float32)


def emulate_output(m):
    def emulate(mode, src, xi, dst, row, pixel, bias):
        y = _both(output_matrix(m), _tiles(src, xi)) + memory.floats(bias)
        _image(dst, m, row, pixel)[...] = np.maximum(y, 0) if mode == BIAS_RELU else y

    return emulate


def emulate_output_pool(m):
    def emulate(src, xi, dst, row, pixel, code, code_row, bias):
        y = _both(output_matrix(m), _tiles(src, xi))
        for i in range(m // 2):
            for j in range(m // 2):
                four = y[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].reshape(4, 8)
                best = four.max(axis=0) + memory.floats(bias)
                memory.floats(dst + 4 * (i * row + j * pixel))[:] = best.clip(0)
                memory.codes(code + i * code_row + j * pixel)[:] = np.where(best > 0, four.argmax(axis=0), 4)

    return emulate


register(INPUT, 5, emit_input, emulate_into_tiles(BT))
register(BACK, 5, emit_back, emulate_back)
for m in OUTPUTS.values():
    register(GRADIENT_M + m, 5, emit_gradient(m), emulate_into_tiles(transposed(output_matrix(m))))
    register(OUTPUT_M + m, 7, emit_output(m), emulate_output(m))
    register(OUTPUT_POOL_M + m, 8, emit_output_pool(m), emulate_output_pool(m))
