"""Twins of plain/packing.py: eight numbers in one 64-bit word, pushed together in three steps, or spread by them.

Step 1 makes pairs in 16 bits each, step 2 fours in 32, step 3 all eight: in each, the lower ones of two stay where
they are and the upper ones move over the gap between them.
"""

import numpy as np

from dlmini.jit import kernel

U = np.uint64


@kernel(exact=True, inline=True)
def lower(bits, every):
    """Masks of the lower of two neighbours: `bits` ones in every so many bits."""
    ones = U(U(U(1) << U(bits)) - U(1))
    mask = ones
    for at in range(every, 64, every):
        mask = U(mask | U(ones << U(at)))
    return mask


@kernel(exact=True, inline=True)
def push(word, stay, bits, gap):
    return U(U(word & stay) | U(U(word >> U(gap)) & U(stay << U(bits))))


@kernel(exact=True, inline=True)
def pull(word, stay, bits, gap):
    return U(U(word & stay) | U(U(word & U(stay << U(bits))) << U(gap)))


@kernel(exact=True)
def pack(codes, bits, out):
    gap, ones, pairs, fours = 8 - bits, lower(bits, 16), lower(2 * bits, 32), lower(4 * bits, 64)
    full = codes.size // 8
    words = codes[: 8 * full].view(np.uint64)
    for i in range(full):
        word = push(push(push(words[i], ones, bits, gap), pairs, 2 * bits, 2 * gap), fours, 4 * bits, 4 * gap)
        for j in range(bits):
            out[i * bits + j] = np.uint8(U(word >> U(8 * j)))
    pack_rest(codes[8 * full :], bits, out[full * bits :])


@kernel(exact=True)
def pack_rest(codes, bits, out):
    out[:] = 0
    for i in range(codes.size):
        at = i * bits
        pair = np.uint32(codes[i]) << np.uint32(at & 7)
        out[at >> 3] |= np.uint8(pair & 255)
        if pair > 255:
            out[(at >> 3) + 1] |= np.uint8(pair >> 8)


@kernel(exact=True)
def unpack(data, skip, bits, codes):
    """The ends, which do not fill a group of eight, one by one; all between by groups."""
    head = min(codes.size, -skip % 8)
    start = skip * bits % 8
    unpack_rest(data, start, bits, codes[:head])
    full = (codes.size - head) // 8
    at = (start + head * bits) // 8
    spread(data[at : at + full * bits], bits, codes[head : head + 8 * full])
    unpack_rest(data[at + full * bits :], 0, bits, codes[head + 8 * full :])


@kernel(exact=True)
def spread(data, bits, codes):
    gap, ones, pairs, fours = 8 - bits, lower(bits, 16), lower(2 * bits, 32), lower(4 * bits, 64)
    for i in range(codes.size // 8):
        word = U(0)
        for j in range(bits):
            word = U(word | U(U(data[i * bits + j]) << U(8 * j)))
        word = pull(pull(pull(word, fours, 4 * bits, 4 * gap), pairs, 2 * bits, 2 * gap), ones, bits, gap)
        for j in range(8):
            codes[8 * i + j] = np.uint8(U(word >> U(8 * j)))


@kernel(exact=True)
def unpack_rest(data, start, bits, codes):
    for i in range(codes.size):
        at = start + i * bits
        pair = np.uint32(data[at >> 3])
        if (at & 7) + bits > 8:
            pair |= np.uint32(data[(at >> 3) + 1]) << np.uint32(8)
        codes[i] = np.uint8((pair >> np.uint32(at & 7)) & np.uint32((1 << bits) - 1))
