"""Twins of plain/signs.py. Signs are as good as random, so a branch on one is mispredicted half the time: none here."""

import numpy as np

from dlmini.jit import kernel

ZERO = np.float32(0)


@kernel(exact=True)
def mark(x, codes):
    for i in range(x.size):
        codes[i] = np.uint8(x[i] >= ZERO)


@kernel(exact=True)
def split_sums(x, columns, sums, counts):
    sums[:] = 0
    counts[:] = 0
    if columns == 1:
        sums[0, 0], sums[1, 0], counts[0] = split_all(x)
        return
    for start in range(0, x.size, columns):
        split_row(x[start : start + columns], sums[0], sums[1], counts)


@kernel
def split_all(x):
    below, above, count = 0.0, 0.0, 0.0
    for i in range(x.size):
        up = np.float64(x[i] >= ZERO)
        below += (1.0 - up) * np.float64(x[i])
        above += up * np.float64(x[i])
        count += up
    return below, above, np.int64(count)


@kernel(exact=True, inline=True)
def split_row(row, below, above, counts):
    for c in range(row.size):
        up = np.float64(row[c] >= ZERO)
        below[c] += (1.0 - up) * np.float64(row[c])
        above[c] += up * np.float64(row[c])
        counts[c] += np.int64(up)


@kernel(exact=True)
def unmark(codes, phase, low, high, weight, out):
    """Row by row; the first and the last may be pieces."""
    if low.size == 1:
        add_all(codes, weight * low[0], weight * high[0], out)
        return
    start = 0
    while start < codes.size:
        stop = min(codes.size, start + low.size - phase)
        add_row(codes[start:stop], low[phase:], high[phase:], weight, out[start:stop])
        start, phase = stop, 0


@kernel(exact=True, inline=True)
def add_all(codes, low, high, out):
    for i in range(codes.size):
        out[i] += high if codes[i] else low


@kernel(exact=True, inline=True)
def add_row(codes, low, high, weight, out):
    for i in range(codes.size):
        below, above = low[i], high[i]
        out[i] += weight * (above if codes[i] else below)
