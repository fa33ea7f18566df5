"""Max-pooling of 2x2 windows, eight channels at a time, fused with bias and ReLU."""

import numpy as np

from dlmini.nn.kernels import memory
from dlmini.nn.kernels.routines import MAXIMUM, POOL, UNPOOL, register
from dlmini.nn.kernels.transforms import pool_four
from dlmini.nn.kernels.vector import Vectors


def emit_pool(builder, src, row, pixel, dst, code, bias):
    """relu(max of a 2x2 window + bias), and which cell it came from: 0..3, or 4 where ReLU is dead."""
    v8 = Vectors(builder)
    four = [v8.load(v8.at(src, v8.times(i, row), v8.times(j, pixel))) for i in range(2) for j in range(2)]
    pool_four(v8, four, bias, dst, code)


def emit_maximum(builder, src, row, pixel, dst, code):
    """The largest of a 2x2 window, and which cell it came from."""
    v8 = Vectors(builder)
    best, which = v8.load(src), v8.fill(0, v8.ints)
    for cell in (1, 2, 3):
        value = v8.load(v8.at(src, v8.times(cell // 2, row), v8.times(cell % 2, pixel)))
        better = v8.above(value, best)
        best, which = builder.select(better, value, best), builder.select(better, v8.fill(cell, v8.ints), which)
    v8.store(best, dst)
    v8.store(builder.trunc(which, v8.bytes), code, align=1)


def emulate_maximum(src, row, pixel, dst, code):
    four = np.array([memory.floats(src + 4 * (i * row + j * pixel)) for i in range(2) for j in range(2)])
    memory.floats(dst)[:] = four.max(axis=0)
    memory.codes(code)[:] = four.argmax(axis=0)


def emulate_pool(src, row, pixel, dst, code, bias):
    four = np.array([memory.floats(src + 4 * (i * row + j * pixel)) for i in range(2) for j in range(2)])
    best = four.max(axis=0) + memory.floats(bias)
    memory.floats(dst)[:] = best.clip(0)
    memory.codes(code)[:] = np.where(best > 0, four.argmax(axis=0), 4)


def emit_unpool(builder, src, code, dst, row, pixel):
    """Send eight gradients back to the cells they came from; the other cells of the window become zero."""
    v8 = Vectors(builder)
    gradient, which = v8.load(src), builder.zext(v8.load(code, v8.bytes), v8.ints)
    for cell in range(4):
        mine = builder.icmp_unsigned("==", which, v8.fill(cell, v8.ints))
        target = v8.at(dst, v8.times(cell // 2, row), v8.times(cell % 2, pixel))
        v8.store(builder.select(mine, gradient, v8.fill(0.0)), target)


def emulate_unpool(src, code, dst, row, pixel):
    gradient, which = memory.floats(src), memory.codes(code)
    for cell in range(4):
        target = memory.floats(dst + 4 * (cell // 2 * row + cell % 2 * pixel))
        target[:] = np.where(which == cell, gradient, 0)


register(MAXIMUM, 5, emit_maximum, emulate_maximum)
register(POOL, 6, emit_pool, emulate_pool)
register(UNPOOL, 5, emit_unpool, emulate_unpool)
