"""The register tile: the one matrix product that every convolution here is made of.

    acc[i, v] = sum_{o < O} sum_{k < K}  A[o a_o + i a_i + k a_k] * B[o b_o + k b_k + 8 v : + 8]     i < P, v < V

P rows are broadcast, V vectors of eight are loaded, and P * V accumulators stay in registers: twelve keep both
multiply-add units of a core busy. One call works through `count` tiles, one below the other. In NHWC the (kw, ci) row
of a patch is contiguous, so this strided form serves forward, both gradients and the products inside Winograd, and no
patch matrix is ever built. What happens to the sums is the `mode`.
"""

from functools import partial

import numpy as np
from numba.core import cgutils

from dlmini.nn.kernels import memory
from dlmini.nn.kernels.routines import register
from dlmini.nn.kernels.vector import FLOATS, INT, Vectors

STORE, ADD, BIAS, BIAS_RELU = range(4)
UNROLL = 2
SHAPES = [(P, V) for V in (1, 2, 3) for P in range(1, {1: 6, 2: 6, 3: 4}[V] + 1)]


def emit_tile(P, V, builder, mode, count, c, c_i, a, a_i, a_k, a_o, b, b_k, b_o, K, O, bias):
    """LLVM code of `count` tiles for literal P and V."""
    v8 = Vectors(builder)
    sums = [[cgutils.alloca_once(builder, FLOATS) for _ in range(V)] for _ in range(P)]

    def multiply(rows, k, panel):
        weights = [v8.load(v8.at(panel, v8.times(k, b_k), 8 * v)) for v in range(V)]
        for i in range(P):
            x = v8.broadcast(v8.at(rows[i], v8.times(k, a_k)))
            for v in range(V):
                builder.store(v8.fma(x, weights[v], builder.load(sums[i][v])), sums[i][v])

    with cgutils.for_range(builder, count) as tiles:
        first = v8.times(tiles.index, P)
        for cell in (cell for row in sums for cell in row):
            builder.store(v8.fill(0.0), cell)
        with cgutils.for_range(builder, O) as outer:
            top = v8.at(a, v8.times(outer.index, a_o), v8.times(first, a_i))
            rows = [v8.at(top, v8.times(i, a_i)) for i in range(P)]
            panel = v8.at(b, v8.times(outer.index, b_o))
            whole = builder.and_(K, INT(-UNROLL))
            with cgutils.for_range_slice(builder, INT(0), whole, INT(UNROLL)) as (k, _):
                for u in range(UNROLL):
                    multiply(rows, builder.add(k, INT(u)), panel)
            with cgutils.for_range_slice(builder, whole, K, INT(1)) as (k, _):
                multiply(rows, k, panel)
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
            for v, cell in enumerate(row):
                target = v8.at(c, v8.times(i, c_i), 8 * v)
                v8.store(_finished(v8, m, builder.load(cell), target, v8.at(bias, 8 * v)), target)
        builder.branch(done)
    builder.position_at_end(done)


def _finished(v8, mode, sums, target, bias):
    if mode == ADD:
        return v8.add(sums, v8.load(target))
    if mode in (BIAS, BIAS_RELU):
        sums = v8.add(sums, v8.load(bias))
        return v8.relu(sums) if mode == BIAS_RELU else sums
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


for P, V in SHAPES:
    register(8 * V + P, 14, partial(emit_tile, P, V), partial(emulate_tile, P, V))
