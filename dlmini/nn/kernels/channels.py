"""Work on pixels channel by channel: sums over a channel, and one straight line for each channel. See normalisation.py.

Pixels lie one behind the other, C floats each; a routine takes eight channels through all of them, then the next eight.
Numbers that belong to a channel come as rows of C floats, one row behind the other.
"""

from contextlib import contextmanager

import numpy as np
from numba.core import cgutils

from dlmini.nn.kernels import memory
from dlmini.nn.kernels.routines import MOMENTS, NORM, NORM_BACK, NORM_SUMS, register
from dlmini.nn.kernels.vector import INT, LANES, Vectors

UNROLL = 4


def _rows(v8, start, channels, c, count):
    """Eight channels of each of `count` rows of numbers."""
    return [v8.load(v8.at(start, v8.times(i, channels), c)) for i in range(count)]


@contextmanager
def _channels(builder, channels):
    with cgutils.for_range_slice(builder, INT(0), channels, INT(LANES)) as (c, _):
        yield c


def _pixels(builder, pixels, work):
    """work(pixel, u) for every pixel; u says which of UNROLL partial sums it belongs to."""
    whole = builder.and_(pixels, INT(-UNROLL))
    for first, last, step in ((INT(0), whole, UNROLL), (whole, pixels, 1)):
        with cgutils.for_range_slice(builder, first, last, INT(step)) as (k, _):
            for u in range(step):
                work(builder.add(k, INT(u)), u)


class Partial:
    """Partial sums of eight channels: several, which hide the latency of an addition."""

    def __init__(self, v8):
        self.v8, self.cells = v8, [cgutils.alloca_once(v8.b, v8.floats) for _ in range(UNROLL)]

    def clear(self):
        for cell in self.cells:
            self.v8.b.store(self.v8.fill(0.0), cell)

    def add(self, u, x, y=None):
        """Add x, or x * y."""
        before = self.v8.b.load(self.cells[u])
        self.v8.b.store(self.v8.add(before, x) if y is None else self.v8.fma(x, y, before), self.cells[u])

    def total(self):
        a, b, c, d = (self.v8.b.load(cell) for cell in self.cells)
        return self.v8.add(self.v8.add(a, b), self.v8.add(c, d))


def emit_moments(builder, pixels, channels, src, centre, dst):
    """Row 0 of dst = sum of x - centre, row 1 = sum of (x - centre)^2."""
    v8 = Vectors(builder)
    sums, squares = Partial(v8), Partial(v8)
    with _channels(builder, channels) as c:
        middle = v8.load(v8.at(centre, c))
        sums.clear(), squares.clear()

        def one(k, u):
            x = v8.sub(v8.load(v8.at(src, v8.times(k, channels), c)), middle)
            sums.add(u, x), squares.add(u, x, x)

        _pixels(builder, pixels, one)
        v8.store(sums.total(), v8.at(dst, c))
        v8.store(squares.total(), v8.at(dst, channels, c))


def _floor(v8, wanted):
    """0 if wanted, else what no number is below."""
    return v8.b.select(v8.b.icmp_signed("!=", wanted, INT(0)), v8.fill(0.0), v8.fill(float("-inf")))


def emit_norm(builder, pixels, channels, src, dst, pixel, lines, relu):
    """dst = scale x + offset, through a ReLU if asked. lines: scale, offset."""
    v8 = Vectors(builder)
    floor = _floor(v8, relu)
    with _channels(builder, channels) as c:
        scale, offset = _rows(v8, lines, channels, c, 2)

        def one(k, _):
            x = v8.load(v8.at(src, v8.times(k, channels), c))
            v8.store(v8.at_least(floor, v8.fma(x, scale, offset)), v8.at(dst, v8.times(k, pixel), c))

        _pixels(builder, pixels, one)


def _slope(v8, x, dy, scale, offset, floor):
    """dy where the ReLU behind let something through, which is decided as emit_norm did."""
    return v8.b.select(v8.above(v8.fma(x, scale, offset), floor), dy, v8.fill(0.0))


def emit_norm_sums(builder, pixels, channels, src, slope, lines, dst, relu):
    """Row 0 of dst = sum of dy, row 1 = sum of dy (x - mean), behind the ReLU. lines: scale, offset, mean."""
    v8 = Vectors(builder)
    floor, sums, products = _floor(v8, relu), Partial(v8), Partial(v8)
    with _channels(builder, channels) as c:
        scale, offset, mean = _rows(v8, lines, channels, c, 3)
        sums.clear(), products.clear()

        def one(k, u):
            at = v8.times(k, channels)
            x = v8.load(v8.at(src, at, c))
            dy = _slope(v8, x, v8.load(v8.at(slope, at, c)), scale, offset, floor)
            sums.add(u, dy), products.add(u, dy, v8.sub(x, mean))

        _pixels(builder, pixels, one)
        v8.store(sums.total(), v8.at(dst, c))
        v8.store(products.total(), v8.at(dst, channels, c))


def emit_norm_back(builder, pixels, channels, src, slope, dst, lines, relu, gate):
    """dst = scale dy + turn (x - mean) + lift, where x > 0 if `gate`. lines: scale, offset, mean, turn, lift."""
    v8 = Vectors(builder)
    floor, least = _floor(v8, relu), _floor(v8, gate)
    with _channels(builder, channels) as c:
        scale, offset, mean, turn, lift = _rows(v8, lines, channels, c, 5)

        def one(k, _):
            at = v8.times(k, channels)
            x = v8.load(v8.at(src, at, c))
            dy = _slope(v8, x, v8.load(v8.at(slope, at, c)), scale, offset, floor)
            value = v8.fma(dy, scale, v8.fma(v8.sub(x, mean), turn, lift))
            shut = builder.fcmp_ordered("<=", x, least)
            v8.store(builder.select(shut, v8.fill(0.0), value), v8.at(dst, at, c))

        _pixels(builder, pixels, one)


def _grid(start, pixels, channels, pitch=None):
    return memory.grid(start, (pixels, channels), channels if pitch is None else pitch, 1)


def emulate_moments(pixels, channels, src, centre, dst):
    x = _grid(src, pixels, channels) - memory.floats(centre, channels)
    _grid(dst, 2, channels)[...] = x.sum(axis=0), (x * x).sum(axis=0)


def emulate_norm(pixels, channels, src, dst, pixel, lines, relu):
    scale, offset = _grid(lines, 2, channels)
    y = _grid(src, pixels, channels) * scale + offset
    _grid(dst, pixels, channels, pixel)[...] = np.maximum(y, 0) if relu else y


def _emulated_slope(x, slope, lines, relu):
    dy = _grid(slope, *x.shape)
    return dy * (x * lines[0] + lines[1] > 0) if relu else dy


def emulate_norm_sums(pixels, channels, src, slope, lines, dst, relu):
    x, lines = _grid(src, pixels, channels), _grid(lines, 3, channels)
    dy = _emulated_slope(x, slope, lines, relu)
    _grid(dst, 2, channels)[...] = dy.sum(axis=0), (dy * (x - lines[2])).sum(axis=0)


def emulate_norm_back(pixels, channels, src, slope, dst, lines, relu, gate):
    x, lines = _grid(src, pixels, channels), _grid(lines, 5, channels)
    dy = _emulated_slope(x, slope, lines, relu)
    value = dy * lines[0] + (x - lines[2]) * lines[3] + lines[4]
    _grid(dst, pixels, channels)[...] = value * (x > 0) if gate else value


register(MOMENTS, 5, emit_moments, emulate_moments)
register(NORM, 7, emit_norm, emulate_norm)
register(NORM_SUMS, 7, emit_norm_sums, emulate_norm_sums)
register(NORM_BACK, 8, emit_norm_back, emulate_norm_back)
