"""What exercise 06 is tested for."""

from __future__ import annotations

from math import inf

import numpy as np

from dlmini.grade.expect import close, named, nothing, same, short, whole
from dlmini.grade.lesson import Call, Calls, Lesson, Wrong

lesson = Lesson("06_asynchrony")


# ---- ssp_may_proceed: the truth by walking up from the slowest ----


def asked(clocks, bound) -> Calls:
    clocks = [int(c) for c in clocks]
    reach = sorted(clocks)[0] + bound
    return Calls(
        [(clocks, worker, bound) for worker in range(len(clocks))], truth=[not c > reach for c in clocks], repeat=2
    )


def some_clocks(coin):
    """Somebody is exactly `bound` ahead, somebody one more, one far more; first a bound that tells mistakes apart."""
    for bound in (2, 0, 5):
        low = int(coin.integers(0, 50))
        yield asked(coin.permutation([0, bound, bound + 1, 2 * bound + 1, 4 * bound + 5]) + low, bound)
    yield asked(coin.permutation([0, 3, 40]), inf)


def on_the_edge(coin):
    """Somebody is exactly `bound` ahead, somebody one more; the slowest anywhere."""
    for bound in (0, 2, 5):
        low = int(coin.integers(0, 50))
        yield asked(coin.permutation([0, 0, bound, bound + 1, 2 * bound + 1, 3 * bound + 4]) + low, bound)


def extremes(coin):
    yield asked([int(coin.integers(0, 9))], 0)
    yield asked([0, 100, 7], inf)
    yield asked([4, 4, 4], 0)
    yield asked([3, 5, 9, 4], 2)


def well_known(clocks, bound) -> dict:
    """What each well-known mistake answers for all workers."""
    low, high = min(clocks), max(clocks)
    return {
        "exactly `bound` rounds ahead is still allowed": [c - low < bound for c in clocks],
        "one round too far: `bound` + 1 rounds ahead are let go on": [c - low <= bound + 1 for c in clocks],
        "everybody is held back, the slowest too: it would never open again": [high - low <= bound] * len(clocks),
        "compared with the fastest worker, expected the slowest": [high - c <= bound for c in clocks],
        "compared with the mean of all, expected the slowest": [c - sum(clocks) / len(clocks) <= bound for c in clocks],
        "the other way round: who may go on waits, and who should wait goes on": [c - low > bound for c in clocks],
    }


def answers(case, found) -> None:
    clocks, _, bound = case.args[0]
    named(found.values, case.truth, f"clocks {clocks}, bound {bound}", well_known(clocks, bound))
    for (clocks, worker, bound), value, truth in zip(case.args, found.values, case.truth, strict=True):
        if not isinstance(value, bool | np.bool_) or bool(value) != truth:
            raise Wrong(f"ssp_may_proceed({clocks}, {worker}, {bound}) gave {short(value)}, expected {truth}.")


@lesson.test("ssp_may_proceed", points=1, cases=some_clocks)
def who_is_too_far_ahead_waits(case, found):
    """A worker goes on if it is at most `bound` rounds ahead of the slowest."""
    answers(case, found)


@lesson.test("ssp_may_proceed", points=1, cases=on_the_edge, hidden=True)
def exactly_the_bound_is_allowed(case, found):
    """Exactly `bound` rounds ahead may go on, one more may not."""
    answers(case, found)


@lesson.test("ssp_may_proceed", points=1, cases=extremes, hidden=True)
def from_bulk_synchronous_to_asynchronous(case, found):
    """Bound 0 waits for all, an infinite one for nobody; one worker alone never waits."""
    answers(case, found)


# ---- apply_push ----


def numbers(coin, shape, dtype) -> np.ndarray:
    """Whole numbers of both signs, none of them 0: a step of 0 would hide every mistake."""
    return (coin.integers(1, 100, shape) * coin.choice([-1, 1], shape)).astype(dtype)


def pushed(coin, staleness: int, dtype="f4", repeat: int = 1) -> Call:
    """Whole numbers and a rate that is a power of two: a staleness that is one too rounds nothing."""
    w, push = numbers(coin, (2, int(coin.integers(1, 9))), dtype)
    version, rate = staleness + int(coin.integers(0, 20)), 0.125
    truth = w.astype("f8") - push.astype("f8") * rate / (staleness if staleness > 1 else 1)
    args, about = (w, push, version, version - staleness, rate), f"a push with staleness {staleness}"
    return Call(args, truth=(truth.astype(dtype), version + 1), repeat=repeat, about=about)


def fresh_and_old(coin):
    for staleness, dtype in ((4, "f8"), (0, "f8"), (2, "f4"), (1, "f4")):
        yield pushed(coin, staleness, dtype, repeat=2)


def any_age(coin):
    for staleness, dtype in ((0, "f4"), (1, "f8"), (3, "f8"), (7, "f4"), (40, "f8")):
        yield pushed(coin, staleness, dtype)


def pushed_twice(coin):
    yield pushed(coin, 2, repeat=2)
    yield pushed(coin, 0, "f8", repeat=2)


def applied(case, found) -> None:
    who = f"with version {case.args[2]} and read {case.args[3]}"
    for value in found.values:
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise Wrong(f"{who}: found {short(value)}, expected the pair (new weights, new version).")
        named(value[0], case.truth[0], f"weights {who}", bad_steps(case))
        close(value[0], case.truth[0], f"weights {who}", terms=2)
        named(value[1], case.truth[1], f"version {who}", {"the step was not counted": case.args[2]})
        whole(value[1], case.truth[1], f"version {who}")


def bad_steps(case) -> dict:
    """What well-known mistakes make of the weights."""
    w, push, version, read, rate = case.args
    s, step = version - read, rate * push
    return {
        "divided by a staleness of 0, which counts as 1": w - np.copysign(np.inf, push),
        f"the age of the push is ignored: it is {s} steps old": w - step,
        f"a push that is {s} steps old counts 1/{max(1, s)}, and here it counts 1/{s + 1}": w - step / (s + 1),
        "uphill: the step is taken off, not added": w + step / max(1, s),
        "the rate is forgotten": w - push / max(1, s),
    }


@lesson.test("apply_push", points=2, cases=fresh_and_old)
def an_old_push_counts_less(case, found):
    """A push that is s = 1, 2 or 4 steps old is divided by s, a fresh one by 1; the version grows by one."""
    applied(case, found)


@lesson.test("apply_push", points=1, cases=any_age, hidden=True)
def a_push_of_any_age(case, found):
    """A fresh push counts in full, a very old one a little; numbers keep their type."""
    applied(case, found)


@lesson.test("apply_push", points=1, cases=pushed_twice, hidden=True)
def weights_and_push_are_left_alone(case, found):
    """The weights and the push that were passed in are not changed: a second call gives the same."""
    applied(case, found)


# ---- downpour_step ----


def steps(coin, count: int, push: int, fetch: int, dtype="f4", repeat: int = 1) -> Calls:
    """A replica's life, step by step; each call begins with the true state. Nothing is rounded."""
    length, rate = int(coin.integers(3, 9)), 0.25
    w, gradients = numbers(coin, length, dtype), numbers(coin, (count, length), dtype)
    args, truth = [], []
    for t, gradient in enumerate(gradients):
        since = t // push * push  # the first step that the server has not heard of
        sums = [(rate * gradients[since:end].sum(axis=0, dtype="f8")).astype(dtype) for end in (t, t + 1)]
        due, after = (t + 1) % push == 0, (w - rate * gradients[: t + 1].sum(axis=0, dtype="f8")).astype(dtype)
        before = (w - rate * gradients[:t].sum(axis=0, dtype="f8")).astype(dtype)
        args.append((before, sums[0], gradient, t, rate, push, fetch))
        truth.append((after, np.zeros_like(w) if due else sums[1], sums[1] if due else None, (t + 1) % fetch == 0))
    return Calls(args, truth=truth, repeat=repeat)


def a_short_life(coin):
    yield steps(coin, 7, 3, 2, "f8", repeat=2)
    yield steps(coin, 3, 1, 1)


def every_few(coin):
    yield steps(coin, 7, 3, 3)
    yield steps(coin, 7, 2, 2, "f8")


def rarer_fetches(coin):
    yield steps(coin, 9, 2, 4, "f8")
    yield steps(coin, 6, 1, 3)


def stepped_twice(coin):
    yield steps(coin, 4, 2, 4, repeat=2)


def lived(case, found) -> None:
    when(case, found.values)
    for args, truth, value in zip(case.args, case.truth, found.values, strict=True):
        one_step(value, truth, args, f"step t = {args[3]} with push = {args[5]}, fetch = {args[6]}")


def when(case, values) -> None:
    """Are messages sent, and weights fetched, after the right steps?"""
    for value in values:
        if not isinstance(value, tuple | list) or len(value) != 4:
            raise Wrong(f"found {short(value)}, expected (w, unsent, message, fetch).")
    push, fetch = case.args[0][5:]
    n = len(values)
    due, fetches = [truth[2] is not None for truth in case.truth], [truth[3] for truth in case.truth]
    early = "one step too early: t counts from 0, so {0} steps are made after t = {1}, not after t = 0"
    named(
        [value[2] is not None for value in values],
        due,
        f"push = {push}: a message",
        {early.format(push, push - 1): [t % push == 0 for t in range(n)], "never": [0] * n, "in every step": [1] * n},
    )
    named(
        [value[3] for value in values],
        fetches,
        f"push = {push}, fetch = {fetch}: fetches",
        {early.format(fetch, fetch - 1): [t % fetch == 0 for t in range(n)], "whenever it pushes": due},
    )


def one_step(value, truth, args, who: str) -> None:
    before, unsent, gradient, _, rate, *_ = args
    step = rate * gradient
    named(
        value[0],
        truth[0],
        f"{who}: w",
        {"the replica has not learned alone": before, "uphill: w - rate * gradient was expected": before + step},
    )
    collected = {
        "only the last step, expected the sum of all that the server has not heard of": step,
        "gradients are collected, expected steps: rate * gradient": unsent + gradient,
        "the newest step is missing": unsent,
    }
    kept = {"what has been pushed is kept, and would be pushed again": unsent + step}
    named(value[1], truth[1], f"{who}: unsent", kept if truth[2] is not None else collected)
    if truth[2] is not None:
        named(value[2], truth[2], f"{who}: message", collected)
    same(value[0], truth[0], f"{who}: w")
    same(value[1], truth[1], f"{who}: unsent")
    if truth[2] is None:
        nothing(value[2], f"{who}: message")
    else:
        same(value[2], truth[2], f"{who}: message")
    if not isinstance(value[3], bool | np.bool_) or bool(value[3]) != truth[3]:
        raise Wrong(f"{who}: whether to fetch is {short(value[3])}, expected {truth[3]}.")


@lesson.test("downpour_step", points=1, cases=a_short_life)
def steps_messages_and_fetches(case, found):
    """Every step is made; after every `push` steps their sum is the message, after every `fetch` steps it fetches."""
    lived(case, found)


@lesson.test("downpour_step", points=1, cases=every_few, hidden=True)
def steps_are_collected_and_pushed_together(case, found):
    """Several steps are collected, pushed as one message, and forgotten."""
    lived(case, found)


@lesson.test("downpour_step", points=1, cases=rarer_fetches, hidden=True)
def fetching_is_rarer_than_pushing(case, found):
    """A replica may push more often than it fetches; numbers keep their type."""
    lived(case, found)


@lesson.test("downpour_step", points=1, cases=stepped_twice, hidden=True)
def nothing_passed_in_is_changed(case, found):
    """Weights, unsent steps and gradient are not changed: a second call with them gives the same."""
    lived(case, found)
