"""What exercise 17 is tested for: what every sound entry has. How good it is, the race decides."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor, log2

import numpy as np

from dlmini.grade.expect import named, short, whole
from dlmini.grade.lesson import Call, Calls, Lesson, World, Wrong
from dlmini.leaderboard.plan import read_plan
from dlmini.leaderboard.terms import Terms
from dlmini.leaderboard.voices import Unfit

lesson = Lesson("17_capstone")
AWAY = 0.01  # the number of rounds keeps so far from a whole one: the order of factors must not matter


def terms_of(coin, **given) -> Terms:
    """A world as it may be; what is given is as it is given."""
    drawn = {
        "workers": int(coin.integers(2, 17)),
        "numbers": int(coin.integers(500, 30_000)),
        "steps": int(coin.integers(40, 400)),
        "batch": 20,
        "step_seconds": float(10 ** coin.uniform(-3, -1.5)),
        "latency": float(10 ** coin.uniform(-5, -1.7)),
        "bandwidth": float(10 ** coin.uniform(6, 8)),
        "shared": bool(coin.integers(2)),
        "seconds": float(coin.uniform(0.5, 5)),
        "megabytes": float(coin.uniform(1, 50)),
        "money": float(coin.uniform(0.001, 0.02)),
        "machine_hour": float(coin.uniform(0.5, 3)),
        "gigabyte": float(coin.uniform(0.02, 0.2)),
        "failures": bool(coin.integers(2)),
    }
    drawn |= given
    return Terms(**{"upload": drawn["bandwidth"], **drawn})


# ---- rounds_within: in exact fractions ----


def afforded(terms: Terms, seconds: float, sent: float) -> list[Fraction]:
    """Of seconds, bytes and money: how many rounds each affords; what costs nothing is left out."""
    s, b = Fraction(seconds), Fraction(sent)
    price = terms.workers * s / 3600 * Fraction(terms.machine_hour) + b / 10**9 * Fraction(terms.gigabyte)
    budgets = Fraction(terms.seconds), 10**6 * Fraction(terms.megabytes), Fraction(terms.money)
    return [budget / cost for budget, cost in zip(budgets, (s, b, price), strict=True) if cost]


def lasting(coin, tight: str, about: str = "") -> Call:
    """A world in which `tight` decides: seconds, megabytes, money, steps or nothing."""
    rounds, steps = float(coin.uniform(3, 60)), int(coin.integers(100, 400))
    seconds, sent = float(10 ** coin.uniform(-3, -1)), float(coin.integers(10**3, 10**6))
    terms = terms_of(coin, steps=steps)
    full = {"seconds": seconds, "megabytes": sent / 1e6, "money": terms.price(terms.workers, seconds, sent)}
    rich = {name: cost * float(coin.uniform(3, 9)) * steps for name, cost in full.items()}
    given = {name: full[name] * rounds if name == tight else cost for name, cost in rich.items()}
    if tight == "nothing":
        given["seconds"] = seconds / 2
    terms = Terms(**vars(terms) | given)
    return asked(terms, seconds, sent, about) or lasting(coin, tight, about)


def asked(terms: Terms, seconds: float, sent: float, about: str) -> Call | None:
    counts = afforded(terms, seconds, sent)
    if any(not AWAY < count % 1 < 1 - AWAY for count in counts):
        return None
    truth = min([terms.steps, *map(floor, counts)])
    return Call((terms.as_dict(), seconds, sent), truth=truth, about=about)


def each_budget(coin):
    for tight in ("seconds", "megabytes", "money", "steps"):
        yield lasting(coin, tight)
        yield lasting(coin, tight)
    yield silent(coin)


def silent(coin) -> Call:
    while (found := asked(terms_of(coin), 0.01, 0.0, "a round without a message")) is None:
        pass
    return found


def odd_rounds(coin):
    yield lasting(coin, "nothing", about="a round that takes longer than there is time")
    yield asked(terms_of(coin), 0.0, 0.0, "a round that costs nothing")
    yield from each_budget(coin)


def bad_rounds(case) -> dict[str, object]:
    terms, seconds, sent = case.args
    known = Terms(**{name: terms[name] for name in Terms.__dataclass_fields__})

    def other(**given) -> Terms:
        return Terms(**vars(known) | {name: getattr(known, name) * times for name, times in given.items()})

    found = {
        "one machine is paid, and all of them cost": Terms(**vars(known) | {"workers": 1}),
        "an hour has 3600 seconds, and machines are paid by the hour": other(machine_hour=3600),
        "a megabyte has 10^6 bytes": other(megabytes=1e-6),
        "a megabyte has 10^6 bytes, not 2^20": other(megabytes=2**20 / 1e6),
        "a gigabyte has 10^9 bytes, not 10^6": other(gigabyte=1000),
        "what is sent is counted for every worker; it is that of all together": other(gigabyte=known.workers),
    }
    wrong = {name: min([known.steps, *map(floor, afforded(t, seconds, sent))]) for name, t in found.items()}
    counts = [*map(floor, afforded(known, seconds, sent))]
    if counts:
        wrong["the steps of the world are forgotten"] = min(counts)
        wrong["the largest number of rounds, expected the least"] = min(known.steps, max(counts))
        wrong["one round more than the budget affords"] = case.truth + 1
    if len(counts) == 3:
        wrong["money is forgotten"] = min([known.steps, *counts[:2]])
    return wrong


def right_rounds(case, found) -> None:
    who = f"rounds_within(terms, {case.args[1]:.4g}, {case.args[2]:.4g})"
    named(found.value, case.truth, who, bad_rounds(case))
    whole(found.value, case.truth, who)


@lesson.test("rounds_within", points=1, cases=each_budget)
def the_tightest_budget_decides(case, found):
    """The number of rounds that seconds, bytes, money and steps all afford."""
    right_rounds(case, found)


@lesson.test("rounds_within", points=1, cases=odd_rounds, hidden=True)
def rounds_that_cost_nothing_or_too_much(case, found):
    """Rounds that cost nothing are limited by the steps; if not even one is afforded, it is 0."""
    right_rounds(case, found)


# ---- heard: laws. Rank 0 has the update, rank 1 what comes to it through the judge, who weighs it ----


def spoken(coin, size: int, tail: float = 3.0, about: str = "") -> World:
    update = (10 ** coin.uniform(-4, 0) * coin.standard_t(tail, size)).astype(np.float32)
    return told(update, int(coin.integers(2**31)), about)


def told(update: np.ndarray, seed: int, about: str = "") -> World:
    """Two ranks, each a process of its own: one is given the update, the other how many numbers it has."""
    return World(2, [(update, seed), (update.size, 0)], truth=update, about=about)


def usual_updates(coin):
    for size in (1000, 4097, 20_011):
        yield spoken(coin, size)
    below = -np.abs(spoken(coin, 3000).truth)
    yield told(below, int(coin.integers(2**31)), "an update of negative numbers")


def odd_updates(coin):
    for size in (1, 2, 15, 16, 64):
        yield spoken(coin, size, about=f"an update of {size} number{'s' * (size > 1)}")
    flat = np.where(coin.random(5000) < 0.5, 1, -1).astype(np.float32) * np.float32(0.01)
    yield told(flat, 1, "an update whose numbers are all equally large")
    yield told(-np.abs(flat), 2, "an update of negative numbers")
    one = np.zeros(3000, np.float32)
    one[int(coin.integers(3000))] = -2.0
    yield told(one, 3, "an update of one number and zeros")
    yield told(np.zeros(3000, np.float32), 4, "an update of zeros")


def sound_message(case, found) -> None:
    update, vector, sent = case.truth, found.values[1], found.books.total()
    if sent.messages != 1:
        raise Wrong(
            f"{sent.messages} messages were sent, expected one from rank 0 to 1: leave `heard` as it was given."
        )
    most = update.size // 2 + 64
    if sent.nbytes > most:
        raise Wrong(f"{update.size} numbers became {sent.nbytes} bytes; a message has at most {most}.")
    if not isinstance(vector, np.ndarray) or vector.shape != update.shape or vector.dtype != np.float32:
        raise Wrong(f"hear made {short(vector)} of it, expected a vector of {update.size} float32.")
    if not np.isfinite(vector).all():
        raise Wrong("what was heard holds NaN or infinity.")
    error, energy = (float(np.sum(np.square(v, dtype=np.float64))) for v in (update - vector, update))
    if error > energy * 15 / 16 * (1 + 1e-6):
        share = error / energy if energy else float("inf")
        raise Wrong(
            f"what was heard is off by {share:.3f} of |update|^2; at most 15/16 is allowed{why_off(update, vector)}."
        )


def why_off(update, vector) -> str:
    """What well-known mistakes look like: the wrong numbers were said, or they were made longer."""
    said, sizes = vector != 0, np.abs(update)
    if not said.any() or said.all():
        return ""
    if not np.array_equal(vector[said], update[said]):
        longer = bool((np.abs(vector[said]) >= sizes[said]).all() and (vector * update >= 0).all())
        return ": numbers were heard larger than they are; what is unsaid is remembered anyway" if longer else ""
    least, most = sizes[said].min(), sizes[~said].max()
    if least >= most:
        return ""
    signed = update[said].min() >= update[~said].max()
    which = "the largest numbers, and not the largest magnitudes" if signed else "not the numbers of largest magnitude"
    return f": {which} were said; one of size {least:.3g} was, and one of {most:.3g} was not"


@lesson.test("heard", points=2, cases=usual_updates)
def a_brief_message_says_enough(case, found):
    """At most half a byte per number and 64 bytes, and what is heard is nearer to the update than nothing."""
    sound_message(case, found)


@lesson.test("heard", points=2, cases=odd_updates, hidden=True)
def any_update_can_be_said(case, found):
    """The same for one number, for zeros, for negative numbers, and where all are equally large."""
    sound_message(case, found)


# ---- mixing: laws of a matrix, and of a product of matrices ----


def rounds_of(sizes):
    """For each number of workers: 2 ceil(log2 size) rounds."""

    def cases(coin):
        for size in sizes:
            rounds = 2 * max(1, ceil(log2(max(size, 2))))
            yield Calls([(size, t) for t in range(rounds)], about=f"{size} worker{'s' * (size > 1)}")

    return cases


def right_matrices(case, found) -> None:
    matrices = [right_matrix(*args, value) for args, value in zip(case.args, found.values, strict=True)]
    reaches_everybody(matrices)
    pulls_together(matrices)


def reaches_everybody(matrices: list[np.ndarray]) -> None:
    """Everybody has heard of everybody after the last of these rounds."""
    size, rounds = len(matrices[0]), len(matrices)
    reached = np.eye(size, dtype=bool)
    for K in matrices:
        reached = (K > 0) @ reached
    if not reached.all():
        i, j = np.argwhere(~reached)[0]
        raise Wrong(
            f"mixing({size}, t): after {rounds} rounds worker {i} has heard nothing of what worker {j} said; partners "
            "that change reach everybody."
        )


def pulls_together(matrices: list[np.ndarray]) -> None:
    """Workers that mix updates are driven apart where the mean of the matrices has a negative eigenvalue: lesson 08."""
    least, size = float(np.linalg.eigvals(np.mean(matrices, axis=0)).real.min()), len(matrices[0])
    if least < -1e-6:
        raise Wrong(
            f"mixing({size}, t): the mean over {len(matrices)} rounds has the eigenvalue {least:.3g}, so updates drive "
            "workers apart; keep at least a half for oneself."
        )


def right_matrix(size: int, t: int, value) -> np.ndarray:
    who = f"mixing({size}, {t})"
    try:
        K = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise Wrong(f"{who}: found {short(value)}, expected a square of numbers.") from None
    if K.shape != (size, size):
        raise Wrong(f"{who}: the matrix has shape {K.shape}, expected {(size, size)}.")
    for axis, name in ((1, "row"), (0, "column")):
        off = np.abs(K.sum(axis) - 1)
        if not off.max() < 1e-9:
            i = int(np.argmax(off))
            raise Wrong(f"{who}: {name} {i} sums to {K.sum(axis)[i]:.6g}, expected 1.")
    if (K < 0).any():
        raise Wrong(f"{who}: it has negative entries.")
    others = (K - np.diag(np.diag(K)) > 0).sum(1)
    if others.max() > 2:
        i, most = int(np.argmax(others)), int(others.max())
        raise Wrong(f"{who}: worker {i} hears {most} others, at most two are allowed.")
    if size > 1 and others.max() == 0:
        raise Wrong(f"{who}: nobody hears anybody.")
    return K


@lesson.test("mixing", points=1, cases=rounds_of((1, 2, 3, 4, 6, 8, 32)))
def a_matrix_that_keeps_the_mean(case, found):
    """Rows and columns sum to one, nobody hears more than two others, and news is soon everywhere."""
    right_matrices(case, found)


@lesson.test("mixing", points=1, cases=rounds_of((5, 7, 16, 31)), hidden=True)
def a_matrix_for_any_number_of_workers(case, found):
    """The same for odd and large numbers of workers."""
    right_matrices(case, found)


# ---- recipe: words that the judge can read ----


def any_world(coin):
    for shared in (False, True):
        yield Call((terms_of(coin, shared=shared).as_dict(),))
    yield Call((terms_of(coin, steps=40, seconds=0.001).as_dict(),), about="a budget for less than one round")


def more_worlds(coin):
    for _ in range(6):
        yield Call((terms_of(coin).as_dict(),))
    yield Call((terms_of(coin, steps=33, megabytes=1e-4).as_dict(),), about="a budget for less than one message")


def readable(case, found) -> None:
    terms = Terms(**{name: case.args[0][name] for name in Terms.__dataclass_fields__})
    try:
        recipe = read_plan(found.value, terms, 0, None, 0)
        recipe.check(terms.workers + recipe.topology.servers)
    except (Unfit, ValueError) as error:
        raise Wrong(f"{error}.") from None
    if recipe.rounds * recipe.sync.period(0) > terms.steps:
        raise Wrong(f"{recipe.rounds} rounds of {recipe.sync.period(0)} steps are more than {terms.steps}.")


@lesson.test("recipe", points=1, cases=any_world)
def words_that_can_be_read(case, found):
    """A dict of the judge's words, with at most as many steps as the world has, and at least one round."""
    readable(case, found)


@lesson.test("recipe", points=1, cases=more_worlds, hidden=True)
def words_for_any_world(case, found):
    """The same in worlds of many kinds."""
    readable(case, found)
