"""Wrong answers to exercise 09: (function, what is wrong, this of the solution, that in its place).

A fifth entry is what `check` says of a mistake that the lesson's text, docstrings or hints warn of.
"""

QUANTIZE, PACK, QSGD, ONE_BIT = "quantize", "pack_bits", "qsgd", "one_bit"
ROUNDED = "return np.rint(levels * (u / m)).astype(np.int8), m"
TABLE = "table = (codes[:, None] >> np.arange(bits)) & 1"
PACKED = 'return np.packbits(table.reshape(-1).astype(np.uint8), bitorder="little")'
TOSSED = "return (np.sign(u) * (low + (chance < a - low))).astype(np.int8), m"
LEFT = "return bits.astype(np.uint8), low, high, p - decoded"
NORM = "m = float(np.sqrt(u @ u))\n    "

MUTANTS = [
    (
        QUANTIZE,
        "cut off, not rounded",
        ROUNDED,
        "return (levels * (u / m)).astype(np.int8), m",
        "cut off, expected the nearest",
    ),
    (
        QUANTIZE,
        "the largest number, not the largest magnitude",
        ROUNDED,
        "m = float(u.max())\n    " + ROUNDED,
        "the largest number, expected the largest magnitude",
    ),
    (QUANTIZE, "a vector without numbers has no largest", "max(initial=0)", "max()", "without numbers: ValueError"),
    (
        QUANTIZE,
        "the update is scaled in place",
        ROUNDED,
        "u *= levels / m\n    return np.rint(u).astype(np.int8), m",
        "Your input was changed: u",
    ),
    (QUANTIZE, "whole numbers as floats", ROUNDED, "return np.rint(levels * (u / m)), m", "expected int8"),
    (QUANTIZE, "one level too many", ROUNDED, "return np.rint((levels + 1) * (u / m)).clip(-127, 127).astype('i1'), m"),
    (QUANTIZE, "the scale is the root of the squares", ROUNDED, NORM + ROUNDED),
    (
        PACK,
        "the highest bit first",
        TABLE,
        "table = (codes[:, None] >> np.arange(bits)[::-1]) & 1",
        "the highest bit of a number comes first",
    ),
    (PACK, "bytes are filled from the other end", PACKED, PACKED.replace("little", "big"), "filled from bit 7 down"),
    (PACK, "a whole byte for each number", PACKED, "return codes", "one byte for each number"),
    (
        PACK,
        "no number crosses the edge of a byte",
        PACKED,
        "per = 8 // bits\n    table = np.pad(table, ((0, -len(table) % per), (0, 0))).reshape(-1, per * bits)\n"
        "    return np.packbits(table.astype(np.uint8), axis=1, bitorder='little').reshape(-1)",
        "numbers do not cross the edges of bytes",
    ),
    (PACK, "the last byte is lost", PACKED, PACKED + "[: len(codes) * bits // 8]", "the last byte, which is not full"),
    (PACK, "whole bytes lose a bit", TABLE, TABLE.replace("np.arange(bits)", "np.arange(min(bits, 7))")),
    (
        QSGD,
        "to the nearest, whatever chance says",
        TOSSED,
        "return np.rint(levels * (u / m)).astype(np.int8), m",
        "rounded to the nearest, whatever chance says",
    ),
    (
        QSGD,
        "up where it should go down",
        TOSSED,
        TOSSED.replace("chance < a - low", "chance > a - low"),
        "up where it should go down",
    ),
    (QSGD, "signs are lost", TOSSED, TOSSED.replace("np.sign(u) * ", ""), "signs are lost"),
    (
        QSGD,
        "every coin is a fair one",
        TOSSED,
        TOSSED.replace("chance < a - low", "chance < 0.5"),
        "every coin is a fair one",
    ),
    (
        QSGD,
        "signed numbers are rounded",
        TOSSED,
        "a = levels * (u / m)\n    return (np.floor(a) + (chance < a - np.floor(a))).astype(np.int8), m",
        "signed numbers are rounded, expected magnitudes",
    ),
    (QSGD, "the scale of the paper", "    a = levels", "    " + NORM + "a = levels", "the root of the sum of squares"),
    (QSGD, "one coin for the whole vector", TOSSED, TOSSED.replace("chance < a - low", "chance[0] < a - low")),
    (QSGD, "the update becomes its magnitudes", "low = np.floor(a)", "low = np.floor(a)\n    u /= m"),
    (
        ONE_BIT,
        "what was unsaid is forgotten",
        "p = u + unsaid",
        "p = u + 0 * unsaid",
        "what was unsaid is forgotten",
    ),
    (ONE_BIT, "what was unsaid is added twice", "p = u + unsaid", "p = u + 2 * unsaid", "unsaid is added twice"),
    (
        ONE_BIT,
        "the residual as printed: without what was carried",
        LEFT,
        LEFT.replace("p - decoded", "u - decoded"),
        "the new unsaid is u - decoded",
    ),
    (ONE_BIT, "zero is negative", "bits = p >= 0", "bits = p > 0", "a sum of exactly 0 has the bit 1"),
    (
        ONE_BIT,
        "one magnitude for both sides",
        "    decoded =",
        "    high = float(np.abs(p).mean())\n    low = -high\n    decoded =",
        "one magnitude for both sides",
    ),
    (
        ONE_BIT,
        "an empty side has no mean",
        "float(p[~bits].mean()) if not bits.all() else 0.0",
        "float(p[~bits].mean())",
        "a mean of no numbers",
    ),
    (ONE_BIT, "the update collects what is unsaid", "p = u + unsaid", "u += unsaid\n    p = u", "input was changed: u"),
    (ONE_BIT, "low and high are exchanged", LEFT, LEFT.replace("low, high", "high, low"), "have changed places"),
    (
        ONE_BIT,
        "sums, not means",
        "    decoded =",
        "    high, low = float(p[bits].sum()), float(p[~bits].sum())\n    decoded =",
        "sums of both sides, expected means",
    ),
    (ONE_BIT, "what is unsaid in double precision", LEFT, LEFT.replace("p - decoded", "p - decoded.astype('f8')")),
]
