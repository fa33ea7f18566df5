"""Weights in panels, and the walk over them: what every driver shares.

Output channels are cut into panels of V vectors of eight: two vectors each, and one panel of three when their number is
odd (a lone vector stays alone). Where registers are wide: four vectors each, and one panel of what is left. A panel
holds its weights row by row, so that the tile reads them in order. Channels that do not fill the last vector are padded
with zeros; their results go to a side tile and only the real ones are copied out.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from dlmini.jit import kernel
from dlmini.nn.kernels import memory
from dlmini.nn.kernels.routines import MULTIPLY, register_python, run
from dlmini.nn.kernels.tile import ADD, BIAS, BIAS_RELU, STORE, TALLEST
from dlmini.nn.kernels.vector import FLOAT, WIDE

SIDE = max(P * 8 * V for V, P in enumerate(TALLEST))  # floats of a side tile


@intrinsic
def _peek(typingctx, start):
    def codegen(context, builder, signature, args):
        return builder.load(builder.inttoptr(args[0], FLOAT.as_pointer()), align=4)

    return types.float32(types.int64), codegen


@intrinsic
def _poke(typingctx, start, value):
    def codegen(context, builder, signature, args):
        builder.store(args[1], builder.inttoptr(args[0], FLOAT.as_pointer()), align=4)
        return ir.Constant(ir.IntType(8).as_pointer(), None)

    return types.void(types.int64, types.float32), codegen


def _checked_peek(start):
    return memory.floats(start, 1)[0]


def _checked_poke(start, value):
    memory.floats(start, 1)[0] = value


peek, poke = (_checked_peek, _checked_poke) if memory.DEBUG else (_peek, _poke)


@kernel(inline=True)
def panel_width(vectors):
    """How many vectors the next panel takes when so many are left."""
    if WIDE:
        return min(vectors, 4)
    if vectors == 1:
        return 1
    return 3 if vectors % 2 else 2


def padded(channels: int) -> int:
    """Channels rounded up to whole vectors."""
    return -(-channels // 8) * 8


@kernel
def pack(w, out):
    """w [K, C] to panels: out[c0 * K + k * width + lane] = w[k, c0 + lane]."""
    K, C = w.shape
    c0 = 0
    while c0 < C:
        width = 8 * panel_width((C - c0 + 7) // 8)
        for k in range(K):
            for lane in range(width):
                out[c0 * K + k * width + lane] = w[k, c0 + lane] if c0 + lane < C else 0
        c0 += width


@kernel
def pack_turned(w, out):
    """[KH, KW, Ci, Co] to panels over Ci, one set for each (kh, kw)."""
    KH, KW, Ci, Co = w.shape
    for k in range(KH * KW):
        c0 = 0
        while c0 < Ci:
            width = 8 * panel_width((Ci - c0 + 7) // 8)
            start = (k * ((Ci + 7) // 8 * 8) + c0) * Co
            for co in range(Co):
                for lane in range(width):
                    real = c0 + lane < Ci
                    out[start + co * width + lane] = w[k // KW, k % KW, c0 + lane, co] if real else 0
            c0 += width


@kernel(inline=True)
def copy_real(mode, rows, lanes, side, side_i, c, c_i, bias):
    """Finish a side tile: its first `lanes` columns go to c as the mode says."""
    for i in range(rows):
        for lane in range(lanes):
            target = c + 4 * (i * c_i + lane)
            value = peek(side + 4 * (i * side_i + lane))
            if mode == ADD:
                value += peek(target)
            elif mode in (BIAS, BIAS_RELU):
                value += peek(bias + 4 * lane)
                if mode == BIAS_RELU and value < 0:
                    value *= 0
            poke(target, value)


@kernel
def one_panel(table, rows, V, lanes, mode, side, c, c_i, a, a_i, a_k, a_o, b, b_k, b_o, K, O, bias):
    """All rows against one panel, in tiles of nearly equal height: of at most 6, 32 are 6, 6, 5, 5, 5, 5."""
    most = TALLEST[V]
    tiles = (rows + most - 1) // most
    height = rows // tiles
    tall = rows - height * tiles
    done = 0
    for taller in range(1, -1, -1):
        count = tall if taller else tiles - tall
        P = height + taller
        at_c, at_a = c + 4 * done * c_i, a + 4 * done * a_i
        if lanes >= 8 * V and count > 0:
            run(table, 16 * V + P, mode, count, at_c, c_i, at_a, a_i, a_k, a_o, b, b_k, b_o, K, O, bias)
        elif count > 0:
            for top in range(0, P * count, P):
                run(table, 16 * V + P, STORE, 1, side, 8 * V, at_a + 4 * top * a_i, a_i, a_k, a_o, b, b_k, b_o, K, O, 0)
                copy_real(mode, P, lanes, side, 8 * V, at_c + 4 * top * c_i, c_i, bias)
        done += P * count


def multiply(table, rows, C, mode, side, c, c_i, a, a_i, a_k, a_o, b, b_k, b_o, K, O, bias):
    """[rows, O K] times [O K, C] as in tile.py. b_k = 0: b is in panels; else its rows are b_k and b_o floats apart."""
    c0 = 0
    while c0 < C:
        V = panel_width((C - c0 + 7) // 8)
        at_b, k, o = b + 4 * c0, b_k, b_o
        if b_k == 0:
            at_b, k, o = b + 4 * c0 * K * O, 8 * V, 8 * V * K
        at_c, at_bias = c + 4 * c0, bias + 4 * c0
        one_panel(table, rows, V, C - c0, mode, side, at_c, c_i, a, a_i, a_k, a_o, at_b, k, o, K, O, at_bias)
        c0 += 8 * V


register_python(MULTIPLY, multiply)
