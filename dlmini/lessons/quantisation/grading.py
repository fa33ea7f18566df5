"""What exercise 09 is tested for."""

from __future__ import annotations

from dataclasses import replace
from math import floor

import numpy as np

from dlmini.grade.expect import array, close, named, number, same, short
from dlmini.grade.lesson import Call, Lesson, Wrong
from dlmini.lessons.quantisation.mistakes import bad_levels, bad_sides, bad_streams, bad_tosses

lesson = Lesson("09_quantisation")
AWAY = 0.01  # numbers keep so far from where rounding decides: the order of factors must not matter


def several(value, count: int, names: str) -> tuple:
    """A tuple of so many things."""
    if not isinstance(value, tuple | list) or len(value) != count:
        raise Wrong(f"found {short(value)}, expected {names}.")
    return tuple(value)


def levels_and_scale(case, found, mistakes=lambda case: {}) -> None:
    """mistakes(case): what well-known mistakes make of the levels."""
    q, m = several(found.value, 2, "a pair (q, m)")
    right_scale(m, case)
    named(q, case.truth[0], f"q, for levels = {case.args[1]}", mistakes(case) if case.truth[1] else {})
    same(q, case.truth[0], f"q, for levels = {case.args[1]}")


def right_scale(m, case) -> None:
    u, levels, *_ = case.args
    wrong = {
        "the largest number, expected the largest magnitude": max(u, default=0),
        "the smallest number, expected the largest magnitude": min(u, default=0),
        "the root of the sum of squares, expected the largest magnitude": np.sqrt(np.sum(u.astype("f8") ** 2)),
        "the step between two levels, expected the largest magnitude": case.truth[1] / levels,
    }
    named(m, case.truth[1], "the scale m", wrong)
    number(m, case.truth[1], "the scale m", relative=1e-6)


# ---- quantize: the truth number by number, in double precision ----


def drawn(coin, n: int, dtype, heavy: bool = False, side: int = 0) -> np.ndarray:
    """Numbers of both signs, or all of one; heavy: most are small beside the largest."""
    u = coin.standard_t(2, n) if heavy else coin.standard_normal(n)
    u = side * np.abs(u) if side else u
    return (u * 10 ** coin.uniform(-4, 2)).astype(dtype)


def rounding(coin, n: int, levels: int, dtype="f4", repeat: int = 1, **how) -> Call:
    """A vector none of whose numbers lies near the middle between two levels."""
    u = drawn(coin, n, dtype, **how)
    m = float(max(abs(float(x)) for x in u))
    u = np.array([x for x in u if abs(levels * abs(float(x)) / m % 1 - 0.5) > AWAY], dtype)
    q = [floor(levels * abs(float(x)) / m + 0.5) * (1 if x > 0 else -1) for x in u]
    return Call((u, levels), truth=(np.array(q, np.int8), m), repeat=repeat)


def empty_or_zero(extra) -> list[Call]:
    """No numbers, and none but zeros."""
    return [
        Call((np.zeros(n, "f4"), 7, *extra(n)), truth=(np.zeros(n, np.int8), 0.0), about=about)
        for n, about in ((0, "a vector without numbers"), (5, "a vector of zeros"))
    ]


def every_vector(coin):
    """Of both signs, in either type; only negative numbers; only positive ones; none, and none but zeros."""
    yield rounding(coin, 40, 10, repeat=2)
    yield rounding(coin, 30, 127, "f8", repeat=2, side=-1)
    yield rounding(coin, 30, 1, repeat=2, side=1)
    yield from empty_or_zero(lambda n: ())


@lesson.test("quantize", points=1, cases=every_vector)
def numbers_go_to_the_nearest_level(case, found):
    """q = levels u / max|u|, to the nearest whole number, as int8; the scale is max|u|, whatever the signs, or 0.0."""
    levels_and_scale(case, found, bad_levels)


@lesson.test(
    "quantize", points=1, cases=lambda coin: (rounding(coin, 40, 20, "f8", side=side) for side in (-1, 1)), hidden=True
)
def the_scale_is_the_largest_magnitude(case, found):
    """Vectors of only negative, or only positive, numbers are scaled by their largest magnitude too."""
    levels_and_scale(case, found)


@lesson.test("quantize", points=1, cases=lambda coin: [rounding(coin, 9, 7), *empty_or_zero(lambda n: ())], hidden=True)
def nothing_stays_nothing(case, found):
    """A vector of zeros, or without numbers, gives zeros and the scale 0.0: nothing is divided by zero."""
    levels_and_scale(case, found)


@lesson.test(
    "quantize",
    points=1,
    cases=lambda coin: (rounding(coin, 300, levels, repeat=2, heavy=True) for levels in (127, 3)),
    hidden=True,
)
def small_numbers_beside_a_large_one(case, found):
    """Where one number is far larger than the others they become small or zero; the vector is not changed."""
    levels_and_scale(case, found)


# ---- pack_bits: the truth as one long whole number ----


def stream(coin, n: int, bits: int, repeat: int = 1) -> Call:
    return joined(coin.integers(0, 2**bits, n).astype(np.uint8), bits, repeat)


def joined(codes: np.ndarray, bits: int, repeat: int = 1) -> Call:
    n = len(codes)
    long = sum(int(code) << (i * bits) for i, code in enumerate(codes))
    truth = np.frombuffer(long.to_bytes(-(-n * bits // 8), "little"), np.uint8)
    return Call((codes, bits), truth=truth, repeat=repeat)


def uneven(coin, n: int, bits: int, repeat: int = 2) -> Call:
    """Codes whose lowest and highest bits differ, so that no order of bits looks like another."""
    call = stream(coin, n, bits, repeat)
    codes = call.args[0] | 1
    codes[:-1:2] &= 2 ** (bits - 1) - 1
    return joined(codes, bits, repeat)


def streams(coin):
    """3 bits across the edges of bytes, and the lesson's worked numbers; signs; halves of bytes; none, and one."""
    yield uneven(coin, 11, 3)
    yield joined(np.array([5, 1, 6], np.uint8), 3)
    for n, bits in ((8, 1), (6, 4), (13, 2), (0, 5), (1, 7)):
        yield stream(coin, n, bits, repeat=2)


def packed(case, found) -> None:
    who = f"the bytes of {len(case.args[0])} codes, bits = {case.args[1]}"
    named(found.value, case.truth, who, bad_streams(case))
    same(found.value, case.truth, who)


@lesson.test("pack_bits", points=1, cases=streams)
def bits_are_put_end_to_end(case, found):
    """Numbers of 1 to 7 bits are put end to end, the lowest bit first, also across the edges of bytes."""
    packed(case, found)


@lesson.test(
    "pack_bits",
    points=2,
    cases=lambda coin: (stream(coin, int(coin.integers(9, 40)), bits, repeat=2) for bits in (3, 5, 6, 7)),
    hidden=True,
)
def numbers_cross_the_edges_of_bytes(case, found):
    """3, 5, 6 or 7 bits do not divide 8: numbers lie across two bytes, and no bit is wasted between them."""
    packed(case, found)


@lesson.test(
    "pack_bits",
    points=1,
    cases=lambda coin: (stream(coin, n, bits) for n, bits in ((0, 3), (1, 1), (1, 7), (9, 1), (13, 8), (5, 4))),
    hidden=True,
)
def the_last_byte_is_filled_up_with_zeros(case, found):
    """ceil(n bits / 8) bytes for any n, also for none and for one; 8 bits stay as they are."""
    packed(case, found)


# ---- qsgd: given chance, every level is certain ----


def tossed(coin, n: int, levels: int, dtype="f4", repeat: int = 1, **how) -> Call:
    """Numbers whose fraction is not near their chance, nor near a whole level, where floors differ."""
    u, chance = drawn(coin, n, dtype, **how), coin.random(n).astype(dtype)
    m = float(max(abs(float(x)) for x in u))
    chance[np.abs(u) == m] = 0.5  # the largest is `levels`, or a rounding less or more
    a = [levels * (abs(float(x)) / m) for x in u]
    safe = [i for i in range(n) if a[i] == levels or AWAY < a[i] % 1 < 1 - AWAY]
    safe = [i for i in safe if abs(a[i] % 1 - chance[i]) > AWAY]
    q = [(floor(a[i]) + (float(chance[i]) < a[i] % 1)) * (1 if u[i] > 0 else -1) for i in safe]
    return Call((u[safe], levels, chance[safe]), truth=(np.array(q, np.int8), m), repeat=repeat)


def fair(coin):
    """Every chance from 0 to almost 1 equally often: the mean of what is read must be the number itself."""
    for levels in (1, 7):
        value, draws = coin.uniform(0.05, 0.95) * coin.choice([-1, 1]), 400
        u = np.full(draws + 1, value)
        u[-1] = 1.0
        chance = np.append((coin.permutation(draws) + 0.5) / draws, 0.5)
        yield Call((u, levels, chance), truth=(float(value), levels))


def coins(coin):
    yield tossed(coin, 60, 7, repeat=2)
    yield tossed(coin, 40, 1, "f8", repeat=2, side=-1)
    yield tossed(coin, 40, 127)
    yield from empty_or_zero(lambda n: (coin.random(n).astype("f4"),))


@lesson.test("qsgd", points=1, cases=coins)
def levels_are_chosen_by_chance(case, found):
    """Each magnitude goes to the level above where chance is less than the fraction, else below; signs are put back."""
    levels_and_scale(case, found, bad_tosses)


@lesson.test("qsgd", points=2, cases=fair, hidden=True)
def the_mean_is_right(case, found):
    """Over all chances the mean of what the other side reads is the number itself: rounding is unbiased."""
    value, levels = case.truth
    q, m = several(found.value, 2, "a pair (q, m)")
    array(q, np.zeros(len(case.args[0]), np.int8), "q")
    number(m, 1.0, "the scale m", relative=1e-9)
    mean = float(np.mean(q[:-1].astype(float))) / levels
    if not abs(mean - value) <= 1.01 / (levels * 400):
        raise Wrong(f"the number {value:.4f} is read as {mean:.4f} on average, with {levels} levels on either side.")


@lesson.test(
    "qsgd",
    points=1,
    cases=lambda coin: (
        tossed(coin, 60, levels, dtype, repeat=2, side=side, heavy=True)
        for levels, dtype, side in ((7, "f4", -1), (3, "f8", 0), (15, "f4", 1))
    ),
    hidden=True,
)
def negative_numbers_mirror_positive_ones(case, found):
    """Magnitudes are rounded, and signs put back; the arguments are not changed."""
    levels_and_scale(case, found)


@lesson.test(
    "qsgd",
    points=1,
    cases=lambda coin: [tossed(coin, 20, 5), *empty_or_zero(lambda n: (coin.random(n),))],
    hidden=True,
)
def zeros_need_no_chance(case, found):
    """A vector of zeros, or without numbers, gives zeros and the scale 0.0, whatever chance says."""
    levels_and_scale(case, found)


# ---- one_bit: sums of whole numbers, so that the means of a power of two of them are exact ----


def signs(coin, positive: int, negative: int, dtype="f4", repeat: int = 1) -> Call:
    """`positive` numbers p >= 0 (a zero among them) and `negative` ones below, cut into update and unsaid."""
    p = np.concatenate([coin.integers(0, 50, positive), coin.integers(-50, 0, negative)]).astype("f8")
    if positive:
        p[0] = 0
    p = coin.permutation(p)
    unsaid = coin.integers(-60, 60, len(p)).astype("f8")
    high = sum(x for x in p if x >= 0) / max(positive, 1)
    low = sum(x for x in p if x < 0) / max(negative, 1)
    left = np.array([x - (high if x >= 0 else low) for x in p])
    bits = np.array([x >= 0 for x in p], np.uint8)
    args = (p - unsaid).astype(dtype), unsaid.astype(dtype)
    return Call(args, truth=(bits, low, high, left.astype(dtype)), repeat=repeat)


def four(case, found) -> None:
    bits, low, high, unsaid = several(found.value, 4, "(bits, low, high, unsaid)")
    named([bits, low, high, unsaid], [*case.truth], f"{len(bits)} numbers", bad_sides(case))
    same(bits, case.truth[0], "the bits")
    for value, truth, name in ((low, case.truth[1], "low"), (high, case.truth[2], "high")):
        number(value, truth, name, relative=1e-6)
    close(unsaid, case.truth[3], "unsaid", terms=4)


def both_and_one(coin):
    yield signs(coin, 8, 4, repeat=2)
    yield signs(coin, 4, 8, "f8", repeat=2)
    for positive, negative in ((8, 0), (0, 8)):
        yield replace(signs(coin, positive, negative), about="all signs are equal")


@lesson.test("one_bit", points=1, cases=both_and_one)
def two_means_and_what_is_left(case, found):
    """Bits are the signs of u + unsaid, low and high the means of each side, and unsaid is what they do not say."""
    four(case, found)


@lesson.test(
    "one_bit",
    points=1,
    cases=lambda coin: (signs(coin, *sides, repeat=2) for sides in ((8, 0), (0, 16), (1, 0), (0, 1))),
    hidden=True,
)
def one_side_may_be_empty(case, found):
    """Where all signs are equal the other mean is 0.0, and nothing is divided by zero; arguments are not changed."""
    four(case, found)


@lesson.test(
    "one_bit",
    points=2,
    cases=lambda coin: (signs(coin, p, n, dtype) for p, n, dtype in ((64, 32, "f4"), (20, 27, "f8"), (2, 128, "f4"))),
    hidden=True,
)
def sent_and_unsaid_are_all_that_was_produced(case, found):
    """What is read plus what is unsaid is the update plus what was unsaid before, in the update's own type."""
    four(case, found)
    bits, low, high, unsaid = found.value
    read = np.where(bits == 1, high, low).astype(unsaid.dtype)
    close(read + unsaid, case.args[0] + case.args[1], "read + unsaid", terms=4)


@lesson.test("one_bit", points=1, cases=lambda coin: [signs(coin, 4, 4), signs(coin, 32, 8)], hidden=True)
def zero_counts_as_positive(case, found):
    """A sum of exactly 0 gets the bit 1, and counts in the mean of that side."""
    four(case, found)
