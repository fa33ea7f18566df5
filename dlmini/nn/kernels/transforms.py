"""Winograd's transforms of tiles and filters (see points.py), a vector of channels at a time, in straight-line code.

A weight of which no input meets a gradient (both not zero, anywhere in the batch) has the gradient zero. The way back
leaves rounding there, on which an optimiser such as Adagrad takes a whole step. So gradients that are no larger than
rounding, whose very signs are chance, become zero.
"""

from itertools import product

import numpy as np

from dlmini.nn.kernels import memory
from dlmini.nn.kernels.points import OUTPUTS, POINTS, filter_matrix, input_matrix, output_matrix, tile, transposed
from dlmini.nn.kernels.routines import BACK_R, FILTER_R, GRADIENT_R, INPUT_R, OUTPUT_POOL_R, OUTPUT_R, TAPS_R, register
from dlmini.nn.kernels.tile import BIAS_RELU
from dlmini.nn.kernels.vector import INT, across

ROUNDING = 16 * np.finfo(np.float32).eps  # of the largest term of a filter's gradient; 5 eps was the most ever seen


def reach(r):
    """How large the rounding of each of the n n terms of a filter's gradient may be, for a term of size 1."""
    return ROUNDING * np.outer(*[np.abs(filter_matrix(r)).max(axis=1)] * 2)


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


def _spread(v8, start, n, xi):
    return [[v8.at(start, v8.times(n * i + j, xi)) for j in range(n)] for i in range(n)]


def _loaded(v8, addresses):
    return [[v8.load(a) for a in line] for line in addresses]


def _each(*squares):
    for lines in zip(*squares, strict=True):
        yield from zip(*lines, strict=True)


def emit_into_tiles(matrix):
    """dst[xi] = (matrix d matrix^T)[xi]: B^T d B of an image's tile, or A dY A^T of a gradient's."""

    def emit(builder, channels, src, row, pixel, dst, xi):
        def some(v, c):
            values = sandwich(v, matrix, _loaded(v, _square(v, v.at(src, c), len(matrix[0]), row, pixel)))
            for value, target in _each(values, _spread(v, v.at(dst, c), len(matrix), xi)):
                v.store(value, target)

        across(builder, channels, some)

    return emit


def emit_back(r):
    """dst += B Z B^T: one tile of an image's gradient; tiles overlap."""

    def emit(builder, channels, src, xi, dst, row, pixel):
        def some(v, c):
            values = sandwich(v, transposed(input_matrix(r)), _loaded(v, _spread(v, v.at(src, c), tile(r), xi)))
            for value, target in _each(values, _square(v, v.at(dst, c), tile(r), row, pixel)):
                v.store(v.add(value, v.load(target)), target)

        across(builder, channels, some)

    return emit


def emit_taps(r):
    """dst = G^T dU G, a filter's gradient; what is lost in rounding becomes zero."""
    reaches = [[float(x) for x in line] for line in reach(r)]

    def emit(builder, channels, src, xi, dst, row, pixel):
        def some(v, c):
            terms = _loaded(v, _spread(v, v.at(src, c), tile(r), xi))
            limit = v.fill(0.0)
            for term, most in _each(terms, reaches):
                limit = v.at_least(v.scale(v.size(term), most), limit)
            values = sandwich(v, transposed(filter_matrix(r).tolist()), terms)
            for value, target in _each(values, _square(v, v.at(dst, c), r, row, pixel)):
                lost = builder.fcmp_ordered("<=", v.size(value), limit)
                v.store(builder.select(lost, v.fill(0.0), value), target)

        across(builder, channels, some)

    return emit


def emit_output(r):
    """mask * A^T M A + bias to an image, through ReLU if the mode is BIAS_RELU. The mask: see zeros.py."""

    def emit(builder, channels, mode, src, xi, dst, row, pixel, bias, mask):
        through_relu = builder.icmp_signed("==", mode, INT(BIAS_RELU))

        def some(v, c):
            values = sandwich(v, output_matrix(r), _loaded(v, _spread(v, v.at(src, c), tile(r), xi)))
            floor, add = builder.select(through_relu, v.fill(0.0), v.fill(float("-inf"))), v.load(v.at(bias, c))
            targets, factors = _square(v, v.at(dst, c), OUTPUTS, row, pixel), _square(v, mask, OUTPUTS, OUTPUTS, 1)
            for value, target, factor in _each(values, targets, factors):
                v.store(v.at_least(floor, v.fma(value, v.broadcast(factor), add)), target)

        across(builder, channels, some)

    return emit


def pool_four(v8, four, bias, dst, code):
    """relu(max + bias) of four vectors, and which of them it was: 0..3, or 4 where ReLU is dead."""
    best, which = four[0], v8.fill(0, v8.ints)
    for t in (1, 2, 3):
        better = v8.above(four[t], best)
        best, which = v8.b.select(better, four[t], best), v8.b.select(better, v8.fill(t, v8.ints), which)
    best = v8.add(best, v8.load(bias))
    dead = v8.b.fcmp_ordered("<=", best, v8.fill(0.0))
    v8.store(v8.b.select(dead, v8.fill(0.0), best), dst)
    v8.store(v8.b.trunc(v8.b.select(dead, v8.fill(4, v8.ints), which), v8.bytes), code, align=1)


def emit_output_pool(r):
    """mask * A^T M A + bias, ReLU and 2x2 max-pool in registers: the full-resolution map is never stored."""

    def emit(builder, channels, src, xi, dst, row, pixel, code, code_row, bias, mask):
        def some(v, c):
            y = sandwich(v, output_matrix(r), _loaded(v, _spread(v, v.at(src, c), tile(r), xi)))
            for i, j in product(range(OUTPUTS // 2), repeat=2):
                places = [(2 * i + a, 2 * j + b) for a in range(2) for b in range(2)]
                four = [v.mul(y[a][b], v.broadcast(v.at(mask, OUTPUTS * a + b))) for a, b in places]
                at_code = builder.add(builder.add(code, c), builder.add(v.times(i, code_row), v.times(j, pixel)))
                pool_four(v, four, v.at(bias, c), v.at(dst, c, v.times(i, row), v.times(j, pixel)), at_code)

        across(builder, channels, some)

    return emit


def _image(start, size, row, pixel, channels):
    return memory.grid(start, (size, size, channels), row, pixel, 1)


def _tiles(start, n, xi, channels):
    return memory.grid(start, (n, n, channels), n * xi, xi, 1)


def _factors(mask):
    return memory.grid(mask, (OUTPUTS, OUTPUTS, 1), OUTPUTS, 1, 1)


def _both(matrix, tile):
    return np.einsum("ai,bj,ijc->abc", matrix, matrix, tile)


def emulate_into_tiles(matrix):
    def emulate(channels, src, row, pixel, dst, xi):
        _tiles(dst, len(matrix), xi, channels)[...] = _both(matrix, _image(src, len(matrix[0]), row, pixel, channels))

    return emulate


def emulate_back(r):
    def emulate(channels, src, xi, dst, row, pixel):
        image = _image(dst, tile(r), row, pixel, channels)
        image += _both(transposed(input_matrix(r)), _tiles(src, tile(r), xi, channels)).astype(np.float32)

    return emulate


def emulate_taps(r):
    def emulate(channels, src, xi, dst, row, pixel):
        terms = _tiles(src, tile(r), xi, channels)
        taps = _both(filter_matrix(r).T, terms)
        limit = (reach(r)[..., None] * np.abs(terms)).max(axis=(0, 1))
        _image(dst, r, row, pixel, channels)[...] = np.where(np.abs(taps) <= limit, 0, taps)

    return emulate


def emulate_output(r):
    def emulate(channels, mode, src, xi, dst, row, pixel, bias, mask):
        y = _both(output_matrix(r), _tiles(src, tile(r), xi, channels)) * _factors(mask) + memory.floats(bias, channels)
        _image(dst, OUTPUTS, row, pixel, channels)[...] = np.maximum(y, 0) if mode == BIAS_RELU else y

    return emulate


def emulate_output_pool(r):
    def emulate(channels, src, xi, dst, row, pixel, code, code_row, bias, mask):
        y = _both(output_matrix(r), _tiles(src, tile(r), xi, channels)) * _factors(mask)
        for i in range(OUTPUTS // 2):
            for j in range(OUTPUTS // 2):
                four = y[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].reshape(4, channels)
                best = four.max(axis=0) + memory.floats(bias, channels)
                memory.floats(dst + 4 * (i * row + j * pixel), channels)[:] = best.clip(0)
                memory.codes(code + i * code_row + j * pixel, channels)[:] = np.where(best > 0, four.argmax(axis=0), 4)

    return emulate


for r in POINTS:
    spread = transposed(output_matrix(r))
    register(INPUT_R + r, 6, emit_into_tiles(input_matrix(r)), emulate_into_tiles(input_matrix(r)))
    register(GRADIENT_R + r, 6, emit_into_tiles(spread), emulate_into_tiles(spread))
    register(FILTER_R + r, 6, emit_into_tiles(filter_matrix(r).tolist()), emulate_into_tiles(filter_matrix(r)))
    register(TAPS_R + r, 6, emit_taps(r), emulate_taps(r))
    register(BACK_R + r, 6, emit_back(r), emulate_back(r))
    register(OUTPUT_R + r, 9, emit_output(r), emulate_output(r))
    register(OUTPUT_POOL_R + r, 10, emit_output_pool(r), emulate_output_pool(r))
