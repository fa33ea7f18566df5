"""What exercise 03 is tested for."""

from __future__ import annotations

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.grade.expect import close, named, same, same_bits
from dlmini.grade.lesson import Lesson, World, Wrong
from dlmini.lessons.data_parallelism.mistakes import known_means, known_steps
from dlmini.sim.cluster import Cluster

lesson = Lesson("03_data_parallelism")


# ---- worlds: gradients by rank ----


def gradients(coin, size: int, length: int, dtype="f4", exact: bool = True) -> np.ndarray:
    """Whole numbers times the number of ranks, so that means are exact in any order; or numbers that are rounded."""
    shape = size, length
    return ((size * coin.integers(-99, 99, shape)) if exact else coin.standard_normal(shape)).astype(dtype)


def world(coin, args: list[tuple], truth, repeat: int = 1, **cluster) -> World:
    on = Cluster(Switch(Link(10 ** coin.uniform(-5, -3), 10 ** coin.uniform(6, 9))), **cluster)
    return World(len(args), args, truth=truth, on=on, seed=int(coin.integers(2**31)), repeat=repeat)


def averaging(coin, size: int, length: int, dtype="f4", exact: bool = True, **more) -> World:
    found = gradients(coin, size, length, dtype, exact)
    return world(coin, [(g,) for g in found], found.mean(axis=0, dtype="f8").astype(dtype), **more)


def stepping(coin, size: int, length: int, dtype="f4", exact: bool = True, **more) -> World:
    """The truth is the step of one worker who has the rows of all: L = mean of (x w - y)^2 / 2 over the union.

    exact: rows of small whole numbers, a power of two of them per rank, and a rate that is a power of two.
    """
    rows, rate = (4, 0.25) if exact else (5, 0.1)
    x = coin.integers(-3, 4, (size, rows, length)).astype("f8")
    if exact:
        x *= size  # so that the mean over ranks is exact too
    y, w = coin.integers(-3, 4, (size, rows)).astype("f8"), coin.integers(-3, 4, length).astype("f8")
    each = np.array([a.T @ (a @ w - b) / rows for a, b in zip(x, y, strict=True)])
    wide, high = x.reshape(-1, length), y.reshape(-1)
    truth = w - rate * (wide.T @ (wide @ w - high)) / len(high)
    return world(coin, [(w.astype(dtype), g.astype(dtype), rate) for g in each], truth.astype(dtype), **more)


def few(make):
    def cases(coin):
        for size in (3, 4, 2):  # with two ranks some mistakes look alike
            yield make(coin, size, int(coin.integers(2, 9)))

    return cases


def odd(make):
    """One rank; many; a vector of one number; both types."""

    def cases(coin):
        for size, length, dtype in ((1, 5, "f4"), (2, 1, "f8"), (5, 3, "f4"), (7, 11, "f8")):
            yield make(coin, size, length, dtype)

    return cases


def shaken(make):
    """Messages that come late, ranks that are slow: rounding must not depend on who comes first. Called twice."""

    def cases(coin):
        for size in (3, 6):
            start = {rank: float(coin.uniform(0, 1e-2)) for rank in range(size)}
            yield make(coin, size, 40, exact=False, repeat=2, link_jitter=5.0, start=start)

    return cases


def twice(make):
    def cases(coin):
        yield make(coin, 3, int(coin.integers(2, 9)), repeat=2)
        yield make(coin, 3, int(coin.integers(2, 9)), "f8", repeat=2)

    return cases


def some(coin):
    yield averaging(coin, 4, 100)


def large(coin):
    for size in (2, 5):
        yield averaging(coin, size, 1000)


# ---- truths ----


def everywhere(case, found, known) -> None:
    """All ranks hold the truth; what a mistake gives that the lesson speaks of is called by its name."""
    for rank, value in enumerate(found.values):
        who = f"rank {rank} of {case.size}"
        named(value, case.truth, who, known(case, rank))
        same(value, case.truth, who)


def alike(case, found) -> None:
    for rank, value in enumerate(found.values):
        close(value, case.truth, f"rank {rank} of {case.size}", terms=8 * case.size)
        same_bits(value, found.values[0], rank)


# ---- average_gradients ----


@lesson.test("average_gradients", points=1, cases=few(averaging))
def every_rank_returns_the_mean(case, found):
    """The mean of all ranks' gradients, on every rank."""
    everywhere(case, found, known_means)


@lesson.test("average_gradients", points=1, cases=twice(averaging))
def the_gradient_is_left_alone(case, found):
    """The gradient that was passed in is not changed, and the numbers keep their type."""
    everywhere(case, found, known_means)


@lesson.test("average_gradients", points=1, cases=some)
def everybody_sends_to_rank_0_and_hears_from_it(case, found):
    """Everybody sends to rank 0 and gets one answer: 2 (N - 1) messages of the whole vector."""
    everywhere(case, found, known_means)
    a_star(case, found)


@lesson.test("average_gradients", points=1, cases=odd(averaging), hidden=True)
def the_mean_for_any_number_of_ranks(case, found):
    """It works for one rank and for many, and keeps the type of the numbers."""
    everywhere(case, found, known_means)


@lesson.test("average_gradients", points=1, cases=shaken(averaging), hidden=True)
def all_ranks_hold_the_same_bits(case, found):
    """Late messages, slow ranks and a call before change nothing, and all ranks hold the same bits."""
    alike(case, found)


@lesson.test("average_gradients", points=1, cases=large, hidden=True)
def each_gradient_travels_once_each_way(case, found):
    """Each other rank sends its gradient to rank 0 and gets one answer: 2 (N - 1) messages of the whole vector."""
    everywhere(case, found, known_means)
    a_star(case, found)


def a_star(case, found) -> None:
    """One message of the whole vector to rank 0 and one back, for each of the others."""
    n, nbytes = case.size, case.truth.nbytes
    traffic = {pair: tuple(t) for pair, t in found.books.per_pair().items() if t.messages}
    for source, dest in traffic:
        if 0 not in (source, dest):
            raise Wrong(
                f"rank {source} sent to rank {dest}: everybody sends to rank 0 only, {2 * (n - 1)} messages in all."
            )
    for pair in [pair for rank in range(1, n) for pair in ((rank, 0), (0, rank))]:
        count, sent = traffic.get(pair, (0, 0))
        if (count, sent) != (1, nbytes):
            raise Wrong(
                f"rank {pair[0]} sent {count} messages, {sent} bytes in all, to rank {pair[1]}; "
                f"one of {nbytes} bytes will do."
            )


# ---- bsp_step ----


@lesson.test("bsp_step", points=1, cases=few(stepping), collectives=True)
def the_step_is_that_of_one_worker_on_all_rows(case, found):
    """All ranks return the weights that one worker with all ranks' examples would have after its step."""
    everywhere(case, found, known_steps)


@lesson.test("bsp_step", points=1, cases=twice(stepping), collectives=True)
def weights_and_gradient_are_left_alone(case, found):
    """The weights and the gradient that were passed in are not changed, and the numbers keep their type."""
    everywhere(case, found, known_steps)


@lesson.test("bsp_step", points=1, cases=odd(stepping), hidden=True, collectives=True)
def the_step_for_any_number_of_ranks(case, found):
    """It works for one rank and for many, and keeps the type of the numbers."""
    everywhere(case, found, known_steps)


@lesson.test("bsp_step", points=1, cases=shaken(stepping), hidden=True, collectives=True)
def replicas_stay_equal_to_the_bit(case, found):
    """Whoever comes late, all ranks hold the same bits after the step."""
    alike(case, found)
