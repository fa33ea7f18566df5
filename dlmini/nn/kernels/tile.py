"""The register tile: the one matrix product that every convolution here is made of.

    acc[i, v] = sum_{o < O} sum_{k < K}  A[o a_o + i a_i + k a_k] * B[o b_o + k b_k + 8 v : + 8]     i < P, v < V

P rows are broadcast, V vectors of eight are loaded, and P * V accumulators stay in registers: twelve keep both
multiply-add units of a core busy. Where registers are wide (see vector.py) one holds two of the vectors, and tiles are
taller. One call works through `count` tiles, one below the other. In NHWC the (kw, ci) row of a patch is contiguous, so
this strided form serves forward, both gradients and the products inside Winograd, and no patch matrix is ever built.
What happens to the sums is the `mode`.
"""

from functools import partial

import numpy as np
from numba.core import cgutils

from dlmini.nn.kernels import memory
from dlmini.nn.kernels.routines import register
from dlmini.nn.kernels.vector import INT, WIDE, Vectors, runs

STORE, ADD, BIAS, BIAS_RELU = range(4)
UNROLL = 1 if WIDE else 2  # steps of the depth at a time: a wide one is work enough to hide the loop
TALLEST = (0, 6, 8, 6, 6) if WIDE else (0, 6, 6, 4)  # rows of a tile, by the vectors of a panel


def emit_tile(P, V, builder, mode, count, c, c_i, a, a_i, a_k, a_o, b, b_k, b_o, K, O, bias):
    """LLVM code of `count` tiles for literal P and V."""
    v8, across = Vectors(builder), [(start, Vectors(builder, lanes)) for start, lanes in runs(V)]
    sums = [[(start, v, cgutils.alloca_once(builder, v.floats)) for start, v in across] for _ in range(P)]

    def multiply(rows, k, panel):
        weights = [v.load(v8.at(panel, v8.times(k, b_k), start)) for start, v in across]
        for row, cells in zip(rows, sums, strict=True):
            x = v8.at(row, v8.times(k, a_k))
            for (_, v, cell), weight in zip(cells, weights, strict=True):
                builder.store(v.fma(v.broadcast(x), weight, builder.load(cell)), cell)

    with cgutils.for_range(builder, count) as tiles:
        first = v8.times(tiles.index, P)
        for _, v, cell in (cell for row in sums for cell in row):
            builder.store(v.fill(0.0), cell)
        with cgutils.for_range(builder, O) as outer:
            top = v8.at(a, v8.times(outer.index, a_o), v8.times(first, a_i))
            rows = [v8.at(top, v8.times(i, a_i)) for i in range(P)]
            panel = v8.at(b, v8.times(outer.index, b_o))
            whole = builder.and_(K, INT(-UNROLL))
            for start, stop, step in ((INT(0), whole, UNROLL), (whole, K, 1))[:UNROLL]:
                with cgutils.for_range_slice(builder, start, stop, INT(step)) as (k, _):
                    for u in range(step):
                        multiply(rows, builder.add(k, INT(u)), panel)
        _finish(v8, mode, sums, v8.at(c, v8.times(first, c_i)), c_i, bias)


def _finish(v8, mode, sums, c, c_i, bias):
    """Write the sums out as the mode says."""
    builder = v8.b
    done = builder.append_basic_block("done")
    cases = [builder.append_basic_block(f"mode{m}") for m in range(4)]
    switch = builder.switch(mode, cases[STORE])
    for m in range(1, 4):
        switch.add_case(INT(m), cases[m])
    for m, case in enumerate(cases):
        builder.position_at_end(case)
        for i, row in enumerate(sums):
            for start, v, cell in row:
                target = v8.at(c, v8.times(i, c_i), start)
                v8.store(_finished(v, m, builder.load(cell), target, v8.at(bias, start)), target)
        builder.branch(done)
    builder.position_at_end(done)


def _finished(v, mode, sums, target, bias):
    if mode == ADD:
        return v.add(sums, v.load(target))
    if mode in (BIAS, BIAS_RELU):
        sums = v.add(sums, v.load(bias))
        return v.relu(sums) if mode == BIAS_RELU else sums
    return sums


def emulate_tile(P, V, mode, count, c, c_i, a, a_i, a_k, a_o, b, b_k, b_o, K, O, bias):
    """The same in NumPy, with every address checked."""
    rows, lanes = P * count, 8 * V
    left, right = memory.grid(a, (rows, O, K), a_i, a_o, a_k), memory.grid(b, (O, K, lanes), b_o, b_k, 1)
    sums, target = np.tensordot(left, right, 2), memory.grid(c, (rows, lanes), c_i, 1)
    if mode == ADD:
        sums += target
    if mode in (BIAS, BIAS_RELU):
        sums += memory.floats(bias, lanes)
    target[...] = np.maximum(sums, 0) if mode == BIAS_RELU else sums


for V, tallest in enumerate(TALLEST):
    for P in range(1, tallest + 1):
        register(16 * V + P, 14, partial(emit_tile, P, V), partial(emulate_tile, P, V))
