"""What exercise 14 is tested for."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import numpy as np

from dlmini.grade.expect import close, named, number, same, short, whole
from dlmini.grade.lesson import Call, Lesson, Wrong
from dlmini.lessons.classroom.mistakes import bad_budgets, bad_means, bad_packets

lesson = Lesson("14_classroom")
AWAY = 0.01  # numbers keep so far from where rounding decides: the order of factors must not matter


# ---- budget: the truth in exact fractions ----


def exchange(coin, how: str, ranks: int, tight: bool = False) -> Call:
    """Times in powers of two, so that they are exact; the answer does not lie at a whole number."""
    fixed, extra = int(coin.integers(1, 60)) / 128, int(coin.integers(1, 400)) / 128
    bandwidth = float(coin.integers(10**6, 10**8))
    seconds = fixed - extra / 512 if tight else fixed + extra
    share = Fraction(2 * (ranks - 1), ranks if how == "ring" else 1)
    exact = (Fraction(seconds) - Fraction(fixed)) * Fraction(bandwidth) / share
    if exact > 0 and not AWAY < exact % 1 < 1 - AWAY:
        return exchange(coin, how, ranks, tight)
    about = "less time than the fixed part takes" if tight else ""
    return Call((seconds, ranks, fixed, bandwidth, how), truth=max(0, floor(exact)), about=about)


def six_computers(coin):
    for how in ("star", "ring"):
        yield exchange(coin, how, 6)
        yield exchange(coin, how, 3)
        yield exchange(coin, how, 6, tight=True)


def any_room(coin):
    for ranks in (2, 5, 17, 100):
        for how in ("star", "ring"):
            yield exchange(coin, how, ranks)
    yield exchange(coin, "ring", 9, tight=True)


def right_budget(case, found) -> None:
    who = f"budget{case.args}"
    if isinstance(found.value, float):
        raise Wrong(f"{who}: {found.value!r} is not a whole number of bytes.")
    if found.value == case.truth + 1:
        raise Wrong(f"{who}: one byte too many; expected the largest packet that is still in time.")
    named(found.value, case.truth, who, bad_budgets(case))
    whole(found.value, case.truth, who)


@lesson.test("budget", points=1, cases=six_computers)
def what_a_packet_may_weigh(case, found):
    """The largest packet whose synchronisation is in time, by star and ring; 0 if the fixed part alone is too long."""
    right_budget(case, found)


@lesson.test("budget", points=1, cases=any_room, hidden=True)
def what_a_packet_may_weigh_anywhere(case, found):
    """The same for two computers and for a hundred."""
    right_budget(case, found)


# ---- int8: the truth number by number, in double precision ----

SHAPES = [(3, 3, 4, 8), (8,), (3, 3, 8, 8), (8,), (1, 1, 8, 6), (6,)]


def drawn(coin, shape, size: float) -> np.ndarray:
    return (size * coin.standard_t(3, shape)).astype("f4")


def network(coin, shapes, repeat: int = 1, memory: float = 0.3, about: str = "", quiet=()) -> Call:
    """Layers whose gradients differ in size by orders of magnitude; quiet: those of zeros."""
    layers, unsaid = [], []
    for i, shape in enumerate(shapes):
        size = 0.0 if i in quiet else float(10 ** coin.uniform(-5, 0))
        grad, old = drawn(coin, shape, size), drawn(coin, shape, memory * size / 127)
        grad, old = settled(grad, old)
        layers.append(grad)
        unsaid.append(old)
    return Call((layers, unsaid), truth=truth_of(layers, unsaid), repeat=repeat, about=about)


def settled(grad: np.ndarray, old: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same, but numbers near the middle between two levels become zeros."""
    p = grad.astype("f8") + old
    m = np.abs(p).max(initial=0)
    near = np.abs(127 * np.abs(p) / (m or 1) % 1 - 0.5) < AWAY
    return np.where(near, np.float32(0), grad), np.where(near, np.float32(0), old)


def truth_of(layers, unsaid) -> tuple:
    levels, scales, left = [], [], []
    for grad, old in zip(layers, unsaid, strict=True):
        p = grad.astype("f8") + old
        m = max((abs(float(x)) for x in p.flat), default=0.0)
        q = [floor(127 * abs(float(x)) / m + 0.5) * (1 if x > 0 else -1) if m else 0 for x in p.flat]
        levels.append(np.array(q, np.int8).reshape(p.shape))
        scales.append(m)
        left.append((p - m * levels[-1].astype("f8") / 127).astype("f4"))
    return levels, scales, left


def lists(value, count: int) -> tuple:
    """Three lists with an entry for each layer."""
    if not isinstance(value, tuple | list) or len(value) != 3:
        raise Wrong(f"found {short(value)}, expected three lists (levels, scales, unsaid).")
    for name, one in zip(("levels", "scales", "unsaid"), value, strict=True):
        if not isinstance(one, tuple | list) or len(one) != count:
            raise Wrong(f"{name}: found {short(one)}, expected a list with an entry for each of {count} layers.")
    return tuple(value)


def right_packet(case, found, mistakes=bad_packets) -> None:
    levels, scales, left = lists(found.value, len(case.args[0]))
    named((list(levels), list(scales), list(left)), case.truth, "int8", mistakes(case))
    for i, (q, m, rest) in enumerate(zip(*case.truth, strict=True)):
        number(scales[i], m, f"the scale of layer {i}", relative=1e-6)
        same(levels[i], q, f"the levels of layer {i}")
        unsaid(left[i], rest, m, f"what is unsaid of layer {i}")


def unsaid(value, truth: np.ndarray, scale: float, who: str) -> None:
    """Within the rounding of float32 of what was said: a small difference of larger numbers."""
    if not isinstance(value, np.ndarray) or value.shape != truth.shape or value.dtype != truth.dtype:
        raise Wrong(f"{who}: found {short(value)}, expected an array of float32 of shape {truth.shape}.")
    if not np.isfinite(value).all():
        raise Wrong(f"{who}: not a number; a layer of zeros has the scale 0, and nothing may be divided by it.")
    worst = float(np.abs(value - truth).max(initial=0))
    if not worst <= 8 * np.finfo("f4").eps * scale:
        raise Wrong(f"{who}: one number is off by {worst:.3g}; expected p - m q / 127.")


def a_network(coin):
    yield network(coin, SHAPES, repeat=2)
    yield network(coin, SHAPES[2:], repeat=2)
    yield network(coin, SHAPES[:3], quiet=(1,), about="a layer of zeros")


def empty_layers(coin):
    yield network(coin, [(4, 3), (0,), (5,)], about="a layer without numbers")
    yield network(coin, [(7,)], quiet=(0,), about="a layer of zeros")


@lesson.test("int8", points=1, cases=a_network)
def every_layer_on_a_scale_of_its_own(case, found):
    """255 values, a scale for each layer, what was unsaid added first and the rest remembered; arguments unchanged."""
    right_packet(case, found)


@lesson.test("int8", points=1, cases=empty_layers, hidden=True)
def layers_without_anything_to_say(case, found):
    """Layers of zeros, or without numbers, have zeros for levels and the scale 0.0."""
    right_packet(case, found)


@lesson.test(
    "int8", points=1, cases=lambda coin: (network(coin, SHAPES, 2, memory=40.0) for _ in range(2)), hidden=True
)
def what_was_carried_may_be_most_of_it(case, found):
    """The scale is that of gradient and memory together, and no argument is changed."""
    right_packet(case, found)


# ---- fix_the_mean: the truth in double precision ----


def round_of(coin, computers: int, shapes=((3, 4), (5,)), quiet: int | None = None, repeat: int = 1) -> Call:
    """Packets of several computers, each with scales of its own; quiet: one who has nothing to say."""
    packets, total = [], [np.zeros(shape) for shape in shapes]
    for r in range(computers):
        levels = [coin.integers(-127, 128, shape).astype(np.int8) for shape in shapes]
        scales = [0.0 if r == quiet else float(10 ** coin.uniform(-2, 0)) for _ in shapes]
        levels = [np.zeros_like(q) if r == quiet else q for q in levels]
        for mean, q, m in zip(total, levels, scales, strict=True):
            mean += m * q / 127
        packets.append((levels, scales))
    return Call((packets,), truth=[(mean / computers).astype("f4") for mean in total], repeat=repeat)


def right_mean(case, found) -> None:
    value, n = found.value, len(case.args[0])
    if not isinstance(value, tuple | list) or len(value) != len(case.truth):
        raise Wrong(f"found {short(value)}, expected a list with an array for each of {len(case.truth)} layers.")
    named(list(value), case.truth, f"the mean of {n} computers", bad_means(case))
    for i, (ours, truth) in enumerate(zip(value, case.truth, strict=True)):
        close(ours, truth, f"layer {i}, {n} computers", terms=4 * n)


@lesson.test(
    "fix_the_mean",
    points=1,
    cases=lambda coin: (round_of(coin, n, repeat=2) for n in (6, 4, 3)),
)
def every_computer_counts_as_much_as_any_other(case, found):
    """The mean over all computers of scale * level / 127, layer by layer; the packets are not changed."""
    right_mean(case, found)


def any_round(coin):
    yield round_of(coin, 1)
    yield round_of(coin, 2, SHAPES)
    yield round_of(coin, 7, ((2, 3), (4,), (1,)), quiet=0)
    yield round_of(coin, 5, ((0,), (3,)), quiet=4)


@lesson.test("fix_the_mean", points=1, cases=any_round, hidden=True)
def the_mean_for_any_number_of_computers(case, found):
    """One computer, two, seven; one that has nothing to say counts, too."""
    right_mean(case, found)
