"""What exercise 07 is tested for."""

from __future__ import annotations

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.grade.expect import close, named, short
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


def mistaken(case) -> dict:
    """What well-known mistakes give, for each rank: sentence -> rows."""
    w, _, _, rate = case.args[0]
    x, y = (np.array([args[i] for args in case.args], "f8") for i in (1, 2))
    ends = np.array([walked(w.astype("f8"), a, b, rate) for a, b in zip(x, y, strict=True)])
    lazy = w + np.sum(
        [[walked(w, a[None], b[None], rate) - w for a, b in zip(*own, strict=True)] for own in zip(x, y, strict=True)],
        axis=1,
    )
    again = [walked(w, np.array([a[0]] * len(a)), np.array([b[0]] * len(b)), rate) for a, b in zip(x, y, strict=True)]
    before = np.array([walked(w.astype("f8"), a[:-1], b[:-1], rate) for a, b in zip(x, y, strict=True)])
    chatty = w.astype("f8")
    for a, b in zip(x.swapaxes(0, 1), y.swapaxes(0, 1), strict=True):
        chatty = np.mean([walked(chatty, p[None], q[None], rate) for p, q in zip(a, b, strict=True)], axis=0)
    return {
        "the sum of all ranks' weights, expected their mean": [ends.sum(axis=0)] * len(ends),
        "this rank's own weights: the ranks have not taken their mean": ends,
        "every gradient is taken at the weights of the beginning, expected those that the step before has left": [
            np.mean(lazy, axis=0)
        ]
        * len(ends),
        "a mean after every step: steps are to be made alone, and the mean taken once": [chatty] * len(ends),
        "the mean is taken before the last step, expected after it": before.mean(axis=0) + ends - before,
        "the first batch again and again": [np.mean(again, axis=0)] * len(ends),
        "the mean of all is divided by the number of steps": [ends.sum(axis=0) / x.shape[1]] * len(ends),
    }


def walked(w: np.ndarray, x: np.ndarray, y: np.ndarray, rate: float) -> np.ndarray:
    """A step is w <- (1 - rate A) w + rate b, with A the mean of x x^T and b that of y x, over the rows."""
    for rows, wanted in zip(x, y, strict=True):
        A = np.einsum("ri,rj->ij", rows, rows) / len(wanted)
        b = np.einsum("r,ri->i", wanted, rows) / len(wanted)
        w = (np.eye(len(w)) - rate * A) @ w + rate * b
    return w


def few(coin):
    for size, steps, dtype in ((3, 4, "f8"), (4, 2, "f4"), (2, 1, "f8")):
        yield world(coin, size, steps, int(coin.integers(2, 7)), dtype=dtype, repeat=2)


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
    well_known = mistaken(case)
    for rank, value in enumerate(found.values):
        who = f"rank {rank} of {case.size}"
        named(value, case.truth, who, {sentence: rows[rank] for sentence, rows in well_known.items()})
        close(value, case.truth, f"rank {rank} of {case.size}, {steps} batch{'es' * (steps > 1)} each", terms=terms)


def talked_once(case, found) -> None:
    """Naive, tree, ring: an all-reduce moves the vector 2 (N - 1) times in all."""
    sent, enough = found.books.total().nbytes, case.repeat * 2 * (case.size - 1) * case.truth.nbytes
    if not 0 < sent <= enough:
        raise Wrong(f"all ranks sent {sent} bytes together; talking once, one all-reduce, takes {enough}.")


@lesson.test("local_round", points=2, cases=few, collectives=True)
def steps_alone_then_the_mean(case, found):
    """Each rank takes a local step for each of its batches; only then all take the mean, once. w stays as it was."""
    means(case, found)
    talked_once(case, found)


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
    """One all-reduce a round, however many steps each rank makes."""
    means(case, found)
    talked_once(case, found)


# ---- outer_step: the truth is the rule written out for one number at a time ----


def outer(coin, length: int, rate: float, momentum: float, repeat: int = 2) -> Call:
    w, mean, velocity = coin.standard_normal((3, length))
    new, v = np.empty(length), np.empty(length)
    for i in range(length):
        v[i] = momentum * velocity[i] + (w[i] - mean[i])
        new[i] = w[i] - rate * ((w[i] - mean[i]) + momentum * v[i])
    return Call((w, mean, velocity, rate, momentum), truth=(new, v), repeat=repeat)


def plain_steps(coin):
    yield outer(coin, 3, 0.7, 0.9)
    yield outer(coin, 5, 0.5, 0.0)
    yield outer(coin, 4, 1.0, 0.0)


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
    named(value, case.truth, f"rate {case.args[3]:.3g}, momentum {case.args[4]:.3g}", bad_outer_steps(case))
    for one, truth, name in zip(value, case.truth, ("weights", "velocity"), strict=True):
        close(one, truth, f"the new {name}", terms=4)


def bad_outer_steps(case) -> dict:
    w, mean, velocity, rate, momentum = case.args
    new, v = case.truth
    delta = w - mean
    away, scaled = momentum * velocity - delta, momentum * velocity + rate * delta
    return {
        "weights and velocity have changed places": (v, new),
        "away from the mean: delta is w - mean": (w - rate * (momentum * away - delta), away),
        "a heavy ball, which steps by the old velocity; Nesterov looks ahead with the new one": (w - rate * v, v),
        "the old velocity is returned, expected the new one": (new, velocity),
        "the rate is inside the velocity": (w - rate * (delta + momentum * scaled), scaled),
        "the step begins at the mean, expected where the round began": (mean - rate * (delta + momentum * v), v),
    }


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
