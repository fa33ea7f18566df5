"""What well-known mistakes answer in exercise 09: a sentence for each, so that `check` can call it by its name."""

from __future__ import annotations

import numpy as np


def bad_levels(case) -> dict:
    (u, levels), m = case.args, case.truth[1]
    a = levels * (u.astype("f8") / m)
    return {
        "cut off, expected the nearest whole number": np.trunc(a),
        "rounded down, expected the nearest whole number": np.floor(a),
        "rounded up, expected the nearest whole number": np.ceil(a),
        "not rounded at all": a,
        "signs are lost": np.abs(case.truth[0]),
        "one level too many on either side": np.rint(a * (levels + 1) / levels),
    }


def bad_streams(case) -> dict:
    """What well-known mistakes make of the codes. Tables of bits: a row for each code, the lowest bit first."""
    codes, bits = case.args
    table = np.array([[int(code) >> j & 1 for j in range(bits)] for code in codes], np.uint8).reshape(len(codes), bits)
    per = 8 // bits
    rows = np.pad(table, ((0, -len(table) % per), (0, 0))).reshape(-1, per * bits)
    return {
        "one byte for each number: nothing is packed": codes,
        "the highest bit of a number comes first, expected the lowest": np.packbits(table[:, ::-1], bitorder="little"),
        "bytes are filled from bit 7 down, expected from bit 0 up": np.packbits(table),
        "the highest bit comes first, in numbers and in bytes": np.packbits(table[:, ::-1]),
        "numbers do not cross the edges of bytes: bits are left unused": np.packbits(
            rows, axis=1, bitorder="little"
        ).reshape(-1),
        "the last byte, which is not full, is missing": case.truth[: len(codes) * bits // 8],
        "the bytes are in the opposite order": case.truth[::-1],
    }


def bad_tosses(case) -> dict:
    (u, levels, chance), m = case.args, case.truth[1]
    a, sign = levels * (np.abs(u.astype("f8")) / m), np.sign(u)
    low, signed = np.floor(a), a * sign
    up = chance < a - low
    return {
        "rounded to the nearest, whatever chance says: small numbers are never heard": sign * np.rint(a),
        "up where it should go down, and down where up": sign * (low + ~up),
        "signs are lost": low + up,
        "every coin is a fair one: compare chance with the fraction, not with 1/2": sign * (low + (chance < 0.5)),
        "signed numbers are rounded, expected magnitudes, and the sign put back": np.floor(signed)
        + (chance < signed - np.floor(signed)),
        "one coin for the whole vector": sign * (low + (chance[:1] < a - low)),
        "never up": sign * low,
        "always up": sign * np.ceil(a),
    }


def bad_sides(case) -> dict:
    """What well-known mistakes give."""
    u, carried = (one.astype("f8") for one in case.args)
    p = u + carried
    bits, low, high, unsaid = sides(p, p >= 0)
    read, middle = np.where(bits, high, low), float(np.abs(p).mean())
    sums = [float(p[~bits].sum()), float(p[bits].sum())]
    empty = [low if not bits.all() else np.nan, high if bits.any() else np.nan]
    return {
        "what was unsaid is forgotten: add it first": sides(u, u >= 0),
        "what was unsaid is added twice": sides(p + carried, p + carried >= 0),
        "the new unsaid is u - decoded, which forgets what was carried: p - decoded": [bits, low, high, u - read],
        "what was unsaid is added once more to what is left": [bits, low, high, unsaid + carried],
        "a sum of exactly 0 has the bit 1": sides(p, p > 0),
        "one magnitude for both sides; each has a mean of its own": [
            bits,
            -middle,
            middle,
            p - np.where(bits, middle, -middle),
        ],
        "a mean of no numbers: a side without numbers has 0.0": [bits, *empty, p - np.where(bits, *empty[::-1])],
        "low and high have changed places": [bits, high, low, unsaid],
        "sums of both sides, expected means": [bits, *sums, p - np.where(bits, *sums[::-1])],
        "the bits are the wrong way round": [~bits, low, high, unsaid],
        "what was decoded is returned, expected what it does not say": [bits, low, high, read],
    }


def sides(p: np.ndarray, bits: np.ndarray) -> list:
    """Bits, their two means, and what these do not say."""
    low, high = (float(p[side].mean()) if side.any() else 0.0 for side in (~bits, bits))
    return [bits, low, high, p - np.where(bits, high, low)]
