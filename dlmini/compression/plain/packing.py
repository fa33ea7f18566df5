"""Bits end to end: number i of a stream occupies bits [i b, i b + b), the lowest bit first.

Eight numbers fill b bytes exactly. A stream that was cut starts in the middle of a byte: `skip` is how many numbers
of its group of eight were cut away, and its first byte is the one that holds the first number's first bit.
"""

import numpy as np


def pack(codes, bits, out):
    """Numbers below 2^bits (uint8 each) into ceil(n bits / 8) bytes."""
    each = np.unpackbits(codes.reshape(-1, 1), axis=1, count=bits, bitorder="little")
    out[:] = np.packbits(each.reshape(-1), bitorder="little")


def unpack(data, skip, bits, codes):
    """Fill `codes` from the stream."""
    start = skip * bits % 8
    each = np.unpackbits(data, bitorder="little")[start : start + codes.size * bits]
    codes[:] = np.packbits(each.reshape(-1, bits), axis=1, bitorder="little").reshape(-1)
