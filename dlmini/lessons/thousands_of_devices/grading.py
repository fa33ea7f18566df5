"""What exercise 16 is tested for."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from dlmini.grade.expect import named, number, short, whole
from dlmini.grade.lesson import Call, Lesson, Wrong
from dlmini.lessons.thousands_of_devices.mistakes import bad_cuts, bad_flushes, bad_layouts, bad_traffic, slowest

lesson = Lesson("16_thousands_of_devices")
ZERO, CUT, BEST = "zero2_traffic", "cut_stages", "best_layout"


# ---- zero2_traffic: the truth is found gradient by gradient, each looking whether it still goes along ----


def flush_numbers(sizes, bucket: int) -> list[int]:
    """Elements of each flush: where does a bucket that begins with gradient i end?"""
    came, found, i = list(reversed(sizes)), [], 0
    while i < len(came):
        fits = [j for j in range(i + 1, len(came) + 1) if sum(came[i:j]) <= bucket]
        end = max(fits, default=i + 1)
        found.append(sum(came[i:end]))
        i = end
    return found


def traffic(sizes, ranks: int, bucket: int, **bytes_each) -> Call:
    each, weight = bytes_each.get("gradient", 2), bytes_each.get("weight", 2)
    numbers = flush_numbers(sizes, bucket)
    sent = sum(n * each / ranks * 2 * (ranks - 1) for n in numbers) + (ranks - 1) * sum(sizes) * weight / ranks
    return Call((list(sizes), ranks, bucket), bytes_each, truth=([n * each for n in numbers], sent), repeat=2)


def drawn(coin, tensors: int, most: int = 900) -> list[int]:
    return [int(n) for n in coin.integers(1, most, tensors)]


def few_tensors(coin):
    yield traffic([700, 30, 300, 200, 50], 4, 400)
    yield traffic(drawn(coin, 9), 8, 1000)
    yield traffic([5000, *drawn(coin, 6, 300)], int(coin.integers(2, 64)), 700)


def many_tensors(coin):
    for _ in range(4):
        bytes_each = {"gradient": int(coin.choice([2, 4])), "weight": int(coin.choice([2, 4]))}
        yield traffic(drawn(coin, int(coin.integers(1, 60))), int(coin.integers(1, 3073)), 2000, **bytes_each)
    yield traffic([300, 300, 300, 300], 5, 600)
    yield traffic([900, 900], 3, 100)
    yield traffic([100, 800, 100, 50], 2, 150, gradient=4)
    yield traffic([40], 1, 100)


def right_traffic(case, found) -> None:
    flushes, sent = case.truth
    who = f"{len(case.args[0])} tensors, {case.args[1]} ranks, a bucket of {case.args[2]}"
    value = found.value
    if not isinstance(value, tuple | list) or len(value) != 2 or not isinstance(value[0], tuple | list):
        raise Wrong(f"{who}: found {short(value)}, expected (a list of bytes, bytes sent).")
    named(list(value[0]), flushes, f"{who}: flushes", bad_flushes(case))
    if len(value[0]) != len(flushes):
        raise Wrong(f"{who}: {len(value[0])} flushes, expected {len(flushes)}: {short(flushes)}.")
    for i, (one, truth) in enumerate(zip(value[0], flushes, strict=True)):
        number(one, truth, f"{who}: flush {i}")
    named(value[1], sent, f"{who}: bytes sent", bad_traffic(case))
    number(value[1], sent, f"{who}: bytes sent")


@lesson.test(ZERO, points=2, cases=few_tensors)
def flushes_and_bytes(case, found):
    """When buckets leave, what each weighs, and what a rank sends in all; the list is not changed."""
    right_traffic(case, found)


@lesson.test(ZERO, points=2, cases=many_tensors, hidden=True)
def any_model_and_any_bucket(case, found):
    """Buckets that are exactly full, tensors larger than any, other precisions, one rank."""
    right_traffic(case, found)


# ---- cut_stages: the truth is the best of all cuts, layer by layer ----


def best_cut(times: tuple, stages: int) -> float:
    """The least time of a slowest stage: the first stage takes so many layers, the rest is the same question."""

    @cache
    def least(first: int, left: int) -> float:
        if left == 1:
            return sum(times[first:])
        ends = range(first + 1, len(times) - left + 2)
        return min(max(sum(times[first:end]), least(end, left - 1)) for end in ends)

    return least(0, stages)


def cut(times, stages: int) -> Call:
    times = [float(t) for t in times]
    return Call((times, stages), truth=best_cut(tuple(times), stages), repeat=2)


def plain_cuts(coin):
    yield cut([3, 1, 1, 1, 1, 1, 1, 5], 4)
    yield cut(coin.integers(1, 9, 10), 3)
    yield cut([4, 4, 1, 1, 1, 1, 8], 3)


def odd_cuts(coin):
    for _ in range(5):
        layers = int(coin.integers(2, 15))
        eighths = coin.integers(1, 72, layers)  # whose sums are the same in every order, on every Python
        yield cut(eighths / 8, int(coin.integers(1, layers + 1)))
    yield cut([9, 1, 1, 1], 3)
    yield cut([1, 1, 1, 20], 4)
    yield cut([2] * 9, 4)


def right_cut(case, found) -> None:
    times, stages = case.args
    value, who = found.value, f"times {short(times)} in {stages} stages"
    good = isinstance(value, list | tuple) and all(
        isinstance(n, int | np.integer) and not isinstance(n, bool) for n in value
    )
    if not good:
        raise Wrong(f"{who}: found {short(value)}, expected a list of whole numbers.")
    counts = [int(n) for n in value]
    if len(counts) != stages or min(counts) < 1 or sum(counts) != len(times):
        raise Wrong(f"{who}: found {counts}; {stages} stages of one layer or more must have {len(times)} together.")
    if slowest(times, counts) > case.truth * (1 + 1e-9):
        made = [sentence for sentence, wrong in bad_cuts(times, stages).items() if counts == wrong]
        why = f": {'; or '.join(made)}" if made else ""
        raise Wrong(
            f"{who}: the slowest stage of {counts} takes {slowest(times, counts):g} s, not {case.truth:g}{why}.",
            mistakes=tuple(made),
        )


@lesson.test(CUT, points=2, cases=plain_cuts)
def the_slowest_stage_is_as_fast_as_can_be(case, found):
    """Ends that take longer than the middle; every stage has a layer; the list is not changed."""
    right_cut(case, found)


@lesson.test(CUT, points=2, cases=odd_cuts, hidden=True)
def any_layers_and_any_stages(case, found):
    """One stage, as many stages as layers, one layer that takes longer than all others together."""
    right_cut(case, found)


# ---- best_layout: the truth is every layout there is, one by one ----


def costs(coin) -> dict:
    return {
        "state": float(coin.uniform(2, 4)),
        "kept": float(coin.uniform(0.1, 0.6)),
        "start": float(coin.uniform(0.001, 0.01)),
        "work": float(coin.uniform(0.01, 0.05)),
        "talk": float(coin.uniform(0.001, 0.01)),
        "sync": float(coin.uniform(0.01, 0.5)),
    }


def true_best(devices, per_node, layers, batch, room, cost) -> tuple | None:
    rows = []
    divisors = [n for n in range(1, devices + 1) if devices % n == 0]
    for tensor, pipe in product(divisors, divisors):
        if devices % (tensor * pipe) or tensor > per_node or layers % pipe:
            continue
        data = devices // (tensor * pipe)
        for micro in (1, 2, 4, 8):
            micros, over = divmod(batch, data * micro)
            if over:
                continue
            stage = layers // pipe
            held = stage * cost["state"] / tensor + stage * min(micros, pipe) * micro * cost["kept"] / tensor
            talk = cost["talk"] * micro if tensor > 1 else 0.0
            one = stage * (cost["start"] + cost["work"] * micro / tensor + talk)
            sync = 2 * (1 - 1 / data) * stage * cost["sync"] / tensor
            if held <= room:
                rows.append((micros * one + (pipe - 1) * one + sync, (tensor, pipe, data, micro)))
    return min(rows)[1] if rows else None


def layout(devices, per_node, layers, batch, room, cost) -> Call:
    given = (devices, per_node, layers, batch, room, cost)
    return Call(given, truth=true_best(*given), repeat=2)


COST = {"state": 3.0, "kept": 0.5, "start": 0.002, "work": 0.03, "talk": 0.002, "sync": 0.3}


def plain_layouts(coin):
    yield layout(16, 4, 12, 64, 8.0, COST)
    yield layout(16, 4, 12, 64, 20.0, COST)
    yield layout(32, 8, 12, 256, 6.0, COST | {"kept": 0.05})
    yield layout(16, 8, 24, 64, 1e9, COST | {"talk": 0.0001, "sync": 4.0, "start": 0.0001})
    yield layout(8, 2, 8, 8, 9.0, COST | {"sync": 2.0, "talk": 0.0})
    yield layout(16, 4, 12, 64, 7.0, COST | {"talk": 0.02, "kept": 0.1})
    yield layout(16, 4, 12, 64, 6.0, COST | {"talk": 0.02, "kept": 0.5})


def any_layouts(coin):
    for _ in range(6):
        devices, layers = int(coin.choice([4, 12, 24, 48])), int(coin.choice([6, 12, 24]))
        room = float(coin.uniform(1, 25))
        yield layout(devices, int(coin.choice([2, 4, 8])), layers, int(coin.choice([24, 48, 96])), room, costs(coin))
    yield layout(8, 4, 12, 16, 0.5, costs(coin))
    yield layout(1, 8, 6, 8, 1e9, costs(coin))
    yield layout(8, 2, 8, 2, 4.0, COST | {"kept": 0.3})  # fewer micro-batches than stages
    yield layout(6, 1, 6, 8, 1e9, COST | {"sync": 0.01})  # six copies cannot share eight sequences
    yield layout(16, 2, 10, 64, 20.0, COST)  # sixteen stages cannot share ten layers


def right_layout(case, found) -> None:
    devices, per_node, layers, batch, *_ = case.args
    value, who = found.value, f"{devices} devices, nodes of {per_node}, {layers} layers, batch {batch}"
    if value is not None and (not isinstance(value, tuple | list) or len(value) != 4):
        raise Wrong(f"{who}: found {short(value)}, expected (tensor, pipe, data, micro).")
    value = value if value is None else tuple(value)
    made = [sentence for sentence, wrong in bad_layouts(case).items() if value == wrong != case.truth]
    if made:
        raise Wrong(f"{who}: found {short(value)}: {'; or '.join(made)}.", mistakes=tuple(made))
    if value is None or case.truth is None:
        if value is not case.truth:
            raise Wrong(f"{who}: found {short(value)}, expected {short(case.truth)}: None means that nothing fits.")
        return
    for name, one, truth in zip(("tensor", "pipe", "data", "micro"), value, case.truth, strict=True):
        whole(one, truth, f"{who}, best {case.truth}: {name}")


@lesson.test(BEST, points=3, cases=plain_layouts)
def the_fastest_that_fits(case, found):
    """With little memory and with much, with slow sums inside layers and with slow ones between copies."""
    right_layout(case, found)


@lesson.test(BEST, points=2, cases=any_layouts, hidden=True)
def any_cluster(case, found):
    """Random costs; one device; nothing that fits; few micro-batches; numbers that do not come out even."""
    right_layout(case, found)
