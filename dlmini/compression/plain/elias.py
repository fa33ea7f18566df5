"""Elias' omega code for the few non-zero levels of a sparse quantised vector.

For each non-zero, in order: omega(distance from the one before), a sign bit, omega(|level|); the highest bit first.
omega(1) = 0; otherwise n in binary with the code of (its length - 1) before it and the final 0 behind the lot: 2 is
10 0, 3 is 11 0, 4 is 10 100 0. Elias, Universal codeword sets and representations of the integers, 1975; used for
gradients by Alistarh et al., QSGD, NIPS 2017.
"""

import numpy as np


def omega(n):
    """Code words of positive numbers, as integers, and their lengths in bits."""
    n = n.astype(np.uint64)
    word, length = np.zeros(n.size, np.uint64), np.ones(n.size, np.int64)
    while (more := n > 1).any():
        width = np.frexp(n.astype(np.float64))[1]
        word = np.where(more, word | (n << length.astype(np.uint64)), word)
        length = np.where(more, length + width, length)
        n = np.where(more, width - 1, n).astype(np.uint64)
    return word, length


def write_elias(codes, levels, out):
    """Write the stream into `out`; return its length in bytes."""
    place = np.flatnonzero(codes != levels)
    level = codes[place].astype(np.int64) - levels
    gap = omega(np.diff(place, prepend=-1))
    size = omega(np.abs(level))
    words = np.stack([gap[0], (level < 0).astype(np.uint64), size[0]], axis=1).reshape(-1)
    lengths = np.stack([gap[1], np.ones_like(level), size[1]], axis=1).reshape(-1)
    ends = np.cumsum(lengths)
    behind = np.repeat(ends, lengths) - 1 - np.arange(lengths.sum())  # bits of the same word that follow this one
    stream = np.packbits((np.repeat(words, lengths) >> behind.astype(np.uint64)).astype(np.uint8) & 1)
    out[: stream.size] = stream
    return stream.size


def read_elias(stream, count, levels, codes):
    """Set the `count` non-zeros; return how many bytes were read, or -1 if the code leads out of them or the vector."""
    bits, at, place = np.unpackbits(stream), 0, -1

    def number():
        nonlocal at
        n = 1
        while at < bits.size and bits[at]:
            n, at = int("".join(map(str, bits[at : at + n + 1])), 2), at + n + 1
        at += 1
        return n

    for _ in range(count):
        place += number()
        sign = -1 if at < bits.size and bits[at] else 1
        at += 1
        level = number()
        if at > bits.size or place >= codes.size or level > levels:
            return -1
        codes[place] = levels + sign * level
    return -(-at // 8)
