"""What exercise 07 is tested for."""

from __future__ import annotations

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.grade.expect import close, short
from dlmini.grade.lesson import Call, Lesson, World, Wrong
from dlmini.sim.cluster import Cluster

lesson = Lesson("07_local_sgd")


# ---- local_round: the truth follows every worker's path, number by number ----


def world(coin, size: int, steps: int, length: int, rows: int = 4, dtype="f8", repeat: int = 1, **cluster) -> World:
    w = coin.standard_normal(length).astype(dtype)
    x = coin.standard_normal((size, steps, rows, length)).astype(dtype)
    y = coin.standard_normal((size, steps, rows)).astype(dtype)
    rate = float(coin.uniform(0.05, 0.2))
    ends = [walked(w.astype("f8"), a.astype("f8"), b.astype("f8"), rate) for a, b in zip(x, y, strict=True)]
    on = Cluster(Switch(Link(10 ** coin.uniform(-5, -3), 10 ** coin.uniform(6, 9))), **cluster)
    args, truth = [(w, a, b, rate) for a, b in zip(x, y, strict=True)], np.mean(ends, axis=0).astype(dtype)
    return World(size, args, truth=truth, on=on, seed=int(coin.integers(2**31)), repeat=repeat)


def walked(w: np.ndarray, x: np.ndarray, y: np.ndarray, rate: float) -> np.ndarray:
    """A step is w <- (1 - rate A) w + rate b, with A the mean of x x^T and b that of y x, over the rows."""
    for rows, wanted in zip(x, y, strict=True):
        A = np.einsum("ri,rj->ij", rows, rows) / len(wanted)
        b = np.einsum("r,ri->i", wanted, rows) / len(wanted)
        w = (np.eye(len(w)) - rate * A) @ w + rate * b
    return w


def few(coin):
    for size, steps in ((2, 1), (3, 4), (4, 2)):
        yield world(coin, size, steps, int(coin.integers(2, 7)))


def odd(coin):
    """One rank; one number; single precision. Called twice."""
    for size, steps, length, rows, dtype in ((1, 3, 4, 2, "f8"), (3, 5, 1, 1, "f8"), (5, 2, 6, 7, "f4")):
        yield world(coin, size, steps, length, rows, dtype, repeat=2)


def long(coin):
    yield world(coin, 3, 12, 5)


def shaken(coin):
    start = {rank: float(coin.uniform(0, 1e-2)) for rank in range(4)}
    yield world(coin, 4, 3, 8, repeat=2, link_jitter=5.0, start=start)


def means(case, found) -> None:
    steps, rows = case.args[0][2].shape
    terms = 8 * steps * (rows + len(case.truth)) * case.size
    for rank, value in enumerate(found.values):
        close(value, case.truth, f"rank {rank} of {case.size}, {steps} batch{'es' * (steps > 1)} each", terms=terms)


@lesson.test("local_round", points=2, cases=few, collectives=True)
def steps_alone_then_the_mean(case, found):
    """Each rank steps alone, once per batch of its own; only then all take the mean of their weights."""
    means(case, found)


@lesson.test("local_round", points=1, cases=odd, hidden=True, collectives=True)
def rounds_of_any_shape(case, found):
    """It works for one rank and for many, keeps the type of the numbers, and leaves its arguments alone."""
    means(case, found)


@lesson.test("local_round", points=1, cases=long, hidden=True, collectives=True)
def every_gradient_is_taken_at_the_newest_weights(case, found):
    """Twelve steps: each gradient is taken where the step before has led."""
    means(case, found)


@lesson.test("local_round", points=1, cases=shaken, hidden=True, collectives=True)
def all_ranks_agree_after_the_round(case, found):
    """Whoever comes late, all ranks hold the same weights."""
    means(case, found)


def talkative(coin):
    yield world(coin, 4, 6, 64)


@lesson.test("local_round", points=1, cases=talkative, hidden=True, collectives=True)
def the_round_talks_once(case, found):
    """One all-reduce a round: no rank sends more than twice the vector, however many steps it makes."""
    means(case, found)
    sent = {}
    for (source, _), traffic in found.books.per_pair().items():
        sent[source] = sent.get(source, 0) + traffic.nbytes
    most, enough = max(sent.values(), default=0), 2 * (case.size - 1) * case.truth.nbytes
    if not 0 < most <= enough:
        raise Wrong(f"a rank sent {most} bytes; one all-reduce of {case.truth.nbytes} bytes takes {enough} at most.")


# ---- outer_step: the truth is the rule written out for one number at a time ----


def outer(coin, length: int, rate: float, momentum: float, repeat: int = 2) -> Call:
    w, mean, velocity = coin.standard_normal((3, length))
    new, v = np.empty(length), np.empty(length)
    for i in range(length):
        v[i] = momentum * velocity[i] + (w[i] - mean[i])
        new[i] = w[i] - rate * ((w[i] - mean[i]) + momentum * v[i])
    return Call((w, mean, velocity, rate, momentum), truth=(new, v), repeat=repeat)


def plain_steps(coin):
    yield outer(coin, 4, 1.0, 0.0)
    yield outer(coin, 5, 0.5, 0.0)
    yield outer(coin, 3, 0.7, 0.9)


def any_steps(coin):
    for _ in range(4):
        yield outer(coin, int(coin.integers(1, 30)), float(coin.uniform(0.1, 1.5)), float(coin.uniform(0.1, 0.95)))


def averaging(coin):
    """rate 1 and momentum 0: Local-SGD."""
    w, mean = coin.standard_normal((2, 12))
    yield Call((w, mean, np.zeros(12), 1.0, 0.0), truth=(mean, w - mean))


def resting(coin):
    """All workers came back to where they began: the velocity alone moves them."""
    w, velocity = coin.standard_normal((2, 6))
    yield Call((w, w.copy(), velocity, 0.5, 0.8), truth=(w - 0.5 * 0.8 * 0.8 * velocity, 0.8 * velocity))


def stepped(case, found) -> None:
    value = found.value
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise Wrong(f"found {short(value)}, expected two arrays: the new weights and the new velocity.")
    for one, truth, name in zip(value, case.truth, ("weights", "velocity"), strict=True):
        close(one, truth, f"the new {name}", terms=4)


@lesson.test("outer_step", points=1, cases=plain_steps)
def the_outer_step(case, found):
    """delta is where the round began minus the mean; the step is rate (delta + momentum v)."""
    stepped(case, found)


@lesson.test("outer_step", points=1, cases=any_steps, hidden=True)
def outer_steps_of_any_rate_and_momentum(case, found):
    """Any rate, any momentum, any length; the arguments stay as they are."""
    stepped(case, found)


@lesson.test("outer_step", points=1, cases=averaging, hidden=True)
def rate_one_without_momentum_is_local_sgd(case, found):
    """With rate 1 and momentum 0 the new weights are the mean."""
    stepped(case, found)


@lesson.test("outer_step", points=1, cases=resting, hidden=True)
def velocity_alone_moves_on(case, found):
    """Where the mean is where the round began, the old velocity still moves the weights."""
    stepped(case, found)
