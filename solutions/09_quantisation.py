"""Exercise 09: quantisation. The same vector in fewer bits.

Write the four functions, then run `check("09.quantize")` and its like in the notebook, or `dlmini check 09` in a
terminal. None of them changes its arguments. Vectors are 1-D, of float32 or float64.
"""

import numpy as np

HINTS = {
    "quantize": (
        "Divide by the largest magnitude: now all numbers lie between -1 and 1. Multiply by `levels`, and round.",
        "The largest *magnitude* is np.abs(u).max(), which is not u.max(). What if it is 0, or if u has no numbers?",
        "Work out m first (max has an argument `initial` for vectors without numbers), and return zeros if it is 0. "
        "For the rest np.rint rounds to the nearest, where astype alone would cut off.",
    ),
    "pack_bits": (
        "Write each number as a row of `bits` zeros and ones, lowest bit first, and put all rows end to end.",
        "Bit j of a code is code >> j & 1; codes[:, None] and np.arange(bits) make a table of all of them. Eight "
        "of its bits, in order, make one byte.",
        "NumPy packs a row of zeros and ones into bytes, and fills up the last one: read help(np.packbits), and mind "
        "its `bitorder`. Compare your bytes with the lesson's worked numbers.",
    ),
    "qsgd": (
        "1.3 lies between 1 and 2. It must become 2 in three cases of ten, so that it is 1.3 on average.",
        "Work with magnitudes: a = levels |u| / m, low = floor(a). It goes up where chance < a - low.",
        "A comparison of arrays counts as 0 or 1, so that it can be added to low. Put the signs back at the end, and "
        "begin as in `quantize`, with the same answer for a vector of zeros.",
    ),
    "one_bit": (
        "First add what was left unsaid to the update. Everything else is done with that sum p.",
        "bits = p >= 0. The two values are the means of p where the bit is 1, and where it is 0; 0 if there are none.",
        "Read your own message as the other side would, from bits, low and high alone. What it does not learn of p, "
        "not of u, is the new unsaid: sent and unsaid must add up to p.",
    ),
}


def quantize(u: np.ndarray, levels: int) -> tuple[np.ndarray, float]:
    """(q, m): whole numbers q of type int8 from -levels to levels, and the scale m = max |u|.

        q_i = levels u_i / m, to the nearest whole number; the other side reads m q_i / levels
    levels: 1 to 127. If all numbers are zero, or if there are none, q is zero (or empty) and m is 0.0.
    """
    ### BEGIN SOLUTION
    m = float(np.abs(u).max(initial=0))
    if m == 0:
        return np.zeros(len(u), np.int8), 0.0
    return np.rint(levels * (u / m)).astype(np.int8), m
    ### END SOLUTION


def pack_bits(codes: np.ndarray, bits: int) -> np.ndarray:
    """Numbers from 0 to 2^bits - 1 (uint8 each) in ceil(n bits / 8) bytes (uint8), without gaps.

    Number i takes the bits i * bits to i * bits + bits - 1 of the stream, its lowest bit first; bit j of the stream is
    bit j % 8 of byte j // 8, where bit 0 counts 1 and bit 7 counts 128. What is left of the last byte is zero.
    """
    ### BEGIN SOLUTION
    table = (codes[:, None] >> np.arange(bits)) & 1
    return np.packbits(table.reshape(-1).astype(np.uint8), bitorder="little")
    ### END SOLUTION


def qsgd(u: np.ndarray, levels: int, chance: np.ndarray) -> tuple[np.ndarray, float]:
    """(q, m): as `quantize`, but each magnitude goes up or down at random, so that its mean is right.

        a_i = levels |u_i| / m;    |q_i| = floor(a_i) + 1 where chance_i < a_i - floor(a_i), else floor(a_i)
    q_i has the sign of u_i. chance: as many random numbers, each equally likely anywhere in [0, 1). A vector of zeros,
    or without numbers, gives the same as in `quantize`.
    """
    ### BEGIN SOLUTION
    m = float(np.abs(u).max(initial=0))
    if m == 0:
        return np.zeros(len(u), np.int8), 0.0
    a = levels * (np.abs(u) / m)
    low = np.floor(a)
    return (np.sign(u) * (low + (chance < a - low))).astype(np.int8), m
    ### END SOLUTION


def one_bit(u: np.ndarray, unsaid: np.ndarray) -> tuple[np.ndarray, float, float, np.ndarray]:
    """(bits, low, high, unsaid): one bit per number, with error feedback.

        p = u + unsaid;    bits_i = 1 where p_i >= 0, else 0 (uint8)
        high, low: the means of the p_i with bit 1, and of those with bit 0 (0.0 if there are none)
    The other side reads high where the bit is 1, else low. The new unsaid is what it does not read: p - decoded,
    in the type of u.
    """
    ### BEGIN SOLUTION
    p = u + unsaid
    bits = p >= 0
    high = float(p[bits].mean()) if bits.any() else 0.0
    low = float(p[~bits].mean()) if not bits.all() else 0.0
    decoded = np.where(bits, high, low).astype(p.dtype)
    return bits.astype(np.uint8), low, high, p - decoded
    ### END SOLUTION
