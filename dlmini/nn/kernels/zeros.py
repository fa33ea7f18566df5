"""Exact zeros: where a convolution sees nothing but zeros, its result is the bias and not the rounding of transforms.

Winograd's way computes a zero as a difference of equal sums, which float32 rounds apart; a ReLU opens at what is left.
Pictures have black borders and ReLUs make zeros, so this is no rare case. One byte for each pixel says whether any of
its channels is not zero, and the OR over a window whether a result sees anything:

    mark[i, j] = any_c x[i, j, c] != 0        seen[i, j] = any_{a, b < r} mark[i + a, j + b]

Marking reads an image once, about 1 % of a convolution's time. A product with 0 silences noise, but not NaN.
"""

from llvmlite import ir
from numba.core import cgutils
from numpy.lib.stride_tricks import sliding_window_view

from dlmini.nn.kernels import memory
from dlmini.nn.kernels.points import OUTPUTS, POINTS
from dlmini.nn.kernels.routines import MARK, MASK, SEEN_R, SILENCE, register
from dlmini.nn.kernels.vector import BYTE, FLOAT, INT, LANES, Vectors

WORD = 16  # bytes that SEEN reads and writes at a time: rows of maps have room for one more


def pitch(pixels: int) -> int:
    """The distance between two rows of a map of so many pixels."""
    return -(-pixels // WORD) * WORD + WORD


def _bytes(v8, address, count=1):
    kind = ir.VectorType(BYTE, count) if count > 1 else BYTE
    return v8.b.inttoptr(address, kind.as_pointer())


def emit_mark(builder, rows, pixels, channels, src, row, pixel, dst, dst_row):
    """dst[i, j] = 1 where a pixel has a channel that is not zero, of either sign; NaN is not zero."""
    v8 = Vectors(builder)
    found = cgutils.alloca_once(builder, v8.ints)
    with cgutils.for_range(builder, rows) as i, cgutils.for_range(builder, pixels) as j:
        start = v8.at(src, v8.times(i.index, row), v8.times(j.index, pixel))
        builder.store(v8.fill(0, v8.ints), found)
        with cgutils.for_range_slice(builder, INT(0), channels, INT(LANES)) as (c, _):
            builder.store(builder.or_(builder.load(found), v8.load(v8.at(start, c), v8.ints)), found)
        unsigned = builder.shl(builder.load(found), v8.fill(1, v8.ints))
        lanes = builder.bitcast(builder.icmp_unsigned("!=", unsigned, v8.fill(0, v8.ints)), ir.IntType(LANES))
        target = builder.add(dst, builder.add(builder.mul(i.index, dst_row), j.index))
        builder.store(builder.zext(builder.icmp_unsigned("!=", lanes, ir.IntType(LANES)(0)), BYTE), _bytes(v8, target))


def emit_seen(r):
    """dst[i, j] = OR over a, b < r of src[i + a, j + b]; up to 15 bytes behind a row are written too."""

    def emit(builder, rows, pixels, src, src_row, dst, dst_row):
        v8 = Vectors(builder)
        with cgutils.for_range(builder, rows) as i, _words(builder, pixels) as (j, _):
            found = ir.Constant(ir.VectorType(BYTE, WORD), [0] * WORD)
            for a in range(r):
                line = builder.add(builder.add(src, j), v8.times(builder.add(i.index, INT(a)), src_row))
                for b in range(r):
                    found = builder.or_(found, builder.load(_bytes(v8, builder.add(line, INT(b)), WORD), align=1))
            target = builder.add(builder.add(dst, j), v8.times(i.index, dst_row))
            builder.store(found, _bytes(v8, target, WORD), align=1)

    return emit


def _words(builder, pixels):
    return cgutils.for_range_slice(builder, INT(0), pixels, INT(WORD))


def emit_mask(builder, src, src_row, dst):
    """The seen bytes of one tile as factors 0.0 and 1.0."""
    v8 = Vectors(builder)
    for i in range(OUTPUTS):
        line = builder.load(_bytes(v8, builder.add(src, v8.times(i, src_row)), OUTPUTS), align=1)
        v8.store(builder.uitofp(line, ir.VectorType(FLOAT, OUTPUTS)), v8.at(dst, OUTPUTS * i))


def emit_silence(builder, rows, pixels, channels, seen, seen_row, dst, row):
    """dst = 0 for pixels that see nothing."""
    v8 = Vectors(builder)
    with cgutils.for_range(builder, rows) as i, cgutils.for_range(builder, pixels) as j:
        place = builder.add(builder.add(seen, j.index), v8.times(i.index, seen_row))
        with builder.if_then(builder.icmp_unsigned("==", builder.load(_bytes(v8, place)), BYTE(0)), likely=False):
            start = v8.at(dst, v8.times(i.index, row), v8.times(j.index, channels))
            with cgutils.for_range_slice(builder, INT(0), channels, INT(LANES)) as (c, _):
                v8.store(v8.fill(0.0), v8.at(start, c))


def emulate_mark(rows, pixels, channels, src, row, pixel, dst, dst_row):
    image = memory.grid(src, (rows, pixels, channels), row, pixel, 1)
    memory.cells(dst, (rows, pixels), dst_row, 1)[...] = (image != 0).any(axis=2)


def emulate_seen(r):
    def emulate(rows, pixels, src, src_row, dst, dst_row):
        whole = -(-pixels // WORD) * WORD
        marks = memory.cells(src, (rows + r - 1, whole + r - 1), src_row, 1)
        memory.cells(dst, (rows, whole), dst_row, 1)[...] = sliding_window_view(marks, (r, r)).max(axis=(2, 3))

    return emulate


def emulate_mask(src, src_row, dst):
    memory.grid(dst, (OUTPUTS, OUTPUTS), OUTPUTS, 1)[...] = memory.cells(src, (OUTPUTS, OUTPUTS), src_row, 1)


def emulate_silence(rows, pixels, channels, seen, seen_row, dst, row):
    deaf = memory.cells(seen, (rows, pixels), seen_row, 1) == 0
    memory.grid(dst, (rows, pixels, channels), row, channels, 1)[deaf] = 0


register(MARK, 8, emit_mark, emulate_mark)
register(MASK, 3, emit_mask, emulate_mask)
register(SILENCE, 7, emit_silence, emulate_silence)
for r in POINTS:
    register(SEEN_R + r, 6, emit_seen(r), emulate_seen(r))
