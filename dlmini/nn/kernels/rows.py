"""Plain work on runs of floats: copy one, copy it through a gate, clear it, add two, add many up."""

import numpy as np
from numba.core import cgutils

from dlmini.nn.kernels import memory
from dlmini.nn.kernels.routines import CLEAR, COPY, SUM, SUM_BACK, SUMS, register
from dlmini.nn.kernels.vector import FLOAT, INT, Vectors


def emit_copy(builder, gated, count, src, dst, gate):
    """dst = src, or src where gate > 0 and zero elsewhere."""
    v8 = Vectors(builder)
    with builder.if_else(builder.icmp_signed("!=", gated, INT(0))) as (through_gate, plain):
        with through_gate:
            _each(v8, count, lambda at, kind: _gated(v8, at(src), at(gate), kind), dst)
        with plain:
            _each(v8, count, lambda at, kind: v8.load(at(src), kind), dst)


def emit_clear(builder, count, dst):
    """dst = 0."""
    v8 = Vectors(builder)
    _each(v8, count, lambda at, kind: v8.zero(kind), dst)


def emit_sum(builder, relu, count, a, b, dst):
    """dst = a + b, through a ReLU if asked; NaN stays NaN."""
    v8, wanted = Vectors(builder), builder.icmp_signed("!=", relu, INT(0))

    def value(at, kind):
        least = FLOAT(float("-inf")) if kind is FLOAT else v8.fill(float("-inf"))
        total = v8.add(v8.load(at(a), kind), v8.load(at(b), kind))
        return v8.at_least(builder.select(wanted, v8.zero(kind), least), total)

    _each(v8, count, value, dst)


def emit_sum_back(builder, gated, count, src, dst, gate):
    """dst += src; or that where gate > 0, and zero elsewhere."""
    v8 = Vectors(builder)

    def total(at, kind):
        return v8.add(v8.load(at(src), kind), v8.load(at(dst), kind))

    def through(at, kind):
        alive = v8.b.fcmp_ordered(">", v8.load(at(gate), kind), v8.zero(kind))
        return v8.b.select(alive, total(at, kind), v8.zero(kind))

    with builder.if_else(builder.icmp_signed("!=", gated, INT(0))) as (through_gate, plain):
        with through_gate:
            _each(v8, count, through, dst)
        with plain:
            _each(v8, count, total, dst)


def emit_sums(builder, rows, pixels, src, row, pixel, dst):
    """dst += the sum of all pixels, for eight channels; four partial sums hide the latency of an addition."""
    v8 = Vectors(builder)
    partial = [cgutils.alloca_once_value(builder, v8.fill(0.0)) for _ in range(4)]
    whole = builder.and_(pixels, INT(-4))
    with cgutils.for_range(builder, rows) as r:
        start = v8.at(src, v8.times(r.index, row))
        for first, last, step in ((INT(0), whole, 4), (whole, pixels, 1)):
            with cgutils.for_range_slice(builder, first, last, INT(step)) as (k, _):
                for u in range(step):
                    value = v8.load(v8.at(start, v8.times(builder.add(k, INT(u)), pixel)))
                    builder.store(v8.add(builder.load(partial[u]), value), partial[u])
    a, b, c, d = (builder.load(p) for p in partial)
    v8.store(v8.add(v8.load(dst), v8.add(v8.add(a, b), v8.add(c, d))), dst)


def _gated(v8, src, gate, kind):
    alive = v8.b.fcmp_ordered(">", v8.load(gate, kind), v8.zero(kind))
    return v8.b.select(alive, v8.load(src, kind), v8.zero(kind))


def _each(v8, count, value, dst):
    """Eight floats at a time, then one at a time."""
    whole = v8.b.and_(count, INT(-8))
    for start, stop, step, kind in ((INT(0), whole, 8, v8.floats), (whole, count, 1, FLOAT)):
        with cgutils.for_range_slice(v8.b, start, stop, INT(step)) as (i, _):

            def at(base, i=i):
                return v8.at(base, i)

            v8.store(value(at, kind), at(dst))


def emulate_copy(gated, count, src, dst, gate):
    values = memory.floats(src, count)
    memory.floats(dst, count)[:] = values * (memory.floats(gate, count) > 0) if gated else values


def emulate_clear(count, dst):
    memory.floats(dst, count)[:] = 0


def emulate_sum(relu, count, a, b, dst):
    total = memory.floats(a, count) + memory.floats(b, count)
    memory.floats(dst, count)[:] = np.maximum(total, 0) if relu else total


def emulate_sum_back(gated, count, src, dst, gate):
    total = memory.floats(src, count) + memory.floats(dst, count)
    memory.floats(dst, count)[:] = np.where(memory.floats(gate, count) > 0, total, 0) if gated else total


def emulate_sums(rows, pixels, src, row, pixel, dst):
    total = memory.floats(dst)
    total += memory.grid(src, (rows, pixels, 8), row, pixel, 1).sum(axis=(0, 1))


register(COPY, 5, emit_copy, emulate_copy)
register(CLEAR, 2, emit_clear, emulate_clear)
register(SUM, 5, emit_sum, emulate_sum)
register(SUM_BACK, 5, emit_sum_back, emulate_sum_back)
register(SUMS, 6, emit_sums, emulate_sums)
