"""Twins of plain/elias.py: bits pass through one 64-bit word."""

import numpy as np

from dlmini.jit import kernel

U = np.uint64


@kernel(exact=True, inline=True)
def width_of(n):
    """The length of n in binary."""
    width = 0
    while n > 0:
        n >>= 1
        width += 1
    return width


@kernel(exact=True, inline=True)
def omega(n):
    word, length = U(0), 1
    while n > 1:
        width = width_of(n)
        word = U(word | U(U(n) << U(length)))
        length += width
        n = width - 1
    return word, length


@kernel(exact=True)
def write_elias(codes, levels, out):
    before, held, size, done = -1, U(0), 0, 0
    for i in range(codes.size):
        level = np.int64(codes[i]) - levels
        if level == 0:
            continue
        for piece in range(3):
            word, length = omega(i - before) if piece == 0 else omega(abs(level))
            if piece == 1:
                word, length = U(level < 0), 1
            held = U(U(held << U(length)) | word)
            size += length
            while size >= 8:
                size -= 8
                out[done] = np.uint8(U(held >> U(size)) & U(255))
                done += 1
        before = i
    if size:
        out[done] = np.uint8(U(held << U(8 - size)) & U(255))
        done += 1
    return done


@kernel(exact=True, inline=True)
def bit_at(stream, at):
    return at < 8 * stream.size and (stream[at >> 3] >> np.uint8(7 - (at & 7))) & 1 == 1


@kernel(exact=True, inline=True)
def number(stream, at):
    """The number whose code starts at a bit, and the bit behind it."""
    n = 1
    while bit_at(stream, at):
        more, n, stop = n, 0, at + n + 1
        if more > 62:
            return n, 8 * stream.size + 1
        while at < stop:
            n = 2 * n + bit_at(stream, at)
            at += 1
    return n, at + 1


@kernel(exact=True)
def read_elias(stream, count, levels, codes):
    at, place = 0, -1
    for _ in range(count):
        gap, at = number(stream, at)
        place += gap
        sign = -1 if bit_at(stream, at) else 1
        level, at = number(stream, at + 1)
        if at > 8 * stream.size or place >= codes.size or level > levels:
            return -1
        codes[place] = np.uint8(levels + sign * level)
    return -(-at // 8)
