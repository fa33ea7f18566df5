"""One bit per number: its sign, and two values for it to stand for, in each column of a matrix.

The vector is a matrix written row by row, `columns` wide; with one column all numbers share the two values.
"""

import numpy as np


def mark(x, codes):
    """1 for the non-negative numbers, 0 for the others."""
    codes[:] = x >= 0


def split_sums(x, columns, sums, counts):
    """In each column the sums of the negative and of the non-negative numbers, and how many of these there are."""
    rows = x.reshape(-1, columns)
    sums[0] = np.where(rows < 0, rows, 0).sum(axis=0, dtype=np.float64)
    sums[1] = np.where(rows < 0, 0, rows).sum(axis=0, dtype=np.float64)
    counts[:] = (rows >= 0).sum(axis=0)


def unmark(codes, phase, low, high, weight, out):
    """out += weight * the value that the bit stands for. `phase`: the column of the first number."""
    column = (phase + np.arange(codes.size)) % low.size
    out += weight * np.where(codes, high[column], low[column])
