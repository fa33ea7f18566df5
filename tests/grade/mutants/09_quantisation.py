"""Wrong answers to exercise 09: (function, what is wrong, this of the solution, that in its place)."""

QUANTIZE, PACK, QSGD, ONE_BIT = "quantize", "pack_bits", "qsgd", "one_bit"
ROUNDED = "return np.rint(levels * (u / m)).astype(np.int8), m"
TABLE = "table = (codes[:, None] >> np.arange(bits)) & 1"
PACKED = 'return np.packbits(table.reshape(-1).astype(np.uint8), bitorder="little")'
TOSSED = "return (np.sign(u) * (low + (chance < a - low))).astype(np.int8), m"
LEFT = "return bits.astype(np.uint8), low, high, p - decoded"

MUTANTS = [
    (QUANTIZE, "cut off, not rounded", ROUNDED, "return (levels * (u / m)).astype(np.int8), m"),
    (QUANTIZE, "the largest number, not the largest magnitude", ROUNDED, "m = float(u.max())\n    " + ROUNDED),
    (QUANTIZE, "one level too many", ROUNDED, "return np.rint((levels + 1) * (u / m)).clip(-127, 127).astype('i1'), m"),
    (QUANTIZE, "a vector without numbers has no largest", "max(initial=0)", "max()"),
    (QUANTIZE, "the scale is the root of the squares", ROUNDED, "m = float(np.sqrt(u @ u))\n    " + ROUNDED),
    (
        QUANTIZE,
        "the update is scaled in place",
        ROUNDED,
        "u *= levels / m\n    return np.rint(u).astype(np.int8), m",
    ),
    (PACK, "the highest bit first", TABLE, "table = (codes[:, None] >> np.arange(bits)[::-1]) & 1"),
    (PACK, "bytes are filled from the other end", PACKED, PACKED.replace("little", "big")),
    (PACK, "a whole byte for each number", PACKED, "return codes"),
    (
        PACK,
        "no number crosses the edge of a byte",
        PACKED,
        "per = 8 // bits\n    table = np.pad(table, ((0, -len(table) % per), (0, 0))).reshape(-1, per * bits)\n"
        "    return np.packbits(table.astype(np.uint8), axis=1, bitorder='little').reshape(-1)",
    ),
    (PACK, "the last byte is lost", PACKED, PACKED + "[: len(codes) * bits // 8]"),
    (QSGD, "to the nearest, whatever chance says", TOSSED, "return np.rint(levels * (u / m)).astype(np.int8), m"),
    (QSGD, "up where it should go down", TOSSED, TOSSED.replace("chance < a - low", "chance > a - low")),
    (QSGD, "signs are lost", TOSSED, TOSSED.replace("np.sign(u) * ", "")),
    (QSGD, "every coin is a fair one", TOSSED, TOSSED.replace("chance < a - low", "chance < 0.5")),
    (
        QSGD,
        "one coin for the whole vector",
        TOSSED,
        TOSSED.replace("chance < a - low", "chance[0] < a - low"),
    ),
    (ONE_BIT, "what was unsaid is forgotten", "p = u + unsaid", "p = u + 0 * unsaid"),
    (ONE_BIT, "the residual as printed: without what was carried", LEFT, LEFT.replace("p - decoded", "u - decoded")),
    (ONE_BIT, "zero is negative", "bits = p >= 0", "bits = p > 0"),
    (
        ONE_BIT,
        "one magnitude for both sides",
        "    decoded =",
        "    high = float(np.abs(p).mean())\n    low = -high\n    decoded =",
    ),
    (
        ONE_BIT,
        "an empty side has no mean",
        "float(p[~bits].mean()) if not bits.all() else 0.0",
        "float(p[~bits].mean())",
    ),
    (ONE_BIT, "the update collects what is unsaid", "p = u + unsaid", "u += unsaid\n    p = u"),
]
