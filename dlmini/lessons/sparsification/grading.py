"""What exercise 10 is tested for."""

from __future__ import annotations

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.grade.expect import close, number, same, short
from dlmini.grade.lesson import Call, Lesson, World, Wrong
from dlmini.sim.cluster import Cluster

lesson = Lesson("10_sparsification")


def pair(value, names: str) -> tuple:
    """Two things."""
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise Wrong(f"found {short(value)}, expected {names}.")
    return tuple(value)


# ---- top_k: the truth by Python's own sort of (magnitude, place) ----


def largest(u: np.ndarray, k: int) -> list[int]:
    """The places of the k largest, ascending; of equal ones the first."""
    return sorted(sorted(range(len(u)), key=lambda i: (-abs(float(u[i])), i))[:k])


def picking(coin, n: int, k: int, dtype="f4", equal: bool = False, side: int = 0, repeat: int = 1) -> Call:
    u = (coin.integers(-3, 4, n) if equal else coin.standard_normal(n)).astype(dtype)
    u = side * np.abs(u) if side else u
    index = largest(u, k)
    return Call((u, k), truth=(np.array(index, np.int32), u[index]), repeat=repeat)


def places_and_values(case, found) -> None:
    index, values = pair(found.value, "a pair (index, values)")
    same(index, case.truth[0], f"index, for k = {case.args[1]}")
    same(values, case.truth[1], "values")


@lesson.test("top_k", points=1, cases=lambda coin: (picking(coin, 20, k) for k in (1, 4, 9)))
def the_largest_magnitudes_are_sent(case, found):
    """The k numbers of largest magnitude, none of them equal, with their places in ascending order (int32)."""
    places_and_values(case, found)


@lesson.test(
    "top_k", points=1, cases=lambda coin: (picking(coin, 30, 7, "f8", side=side) for side in (-1, 1)), hidden=True
)
def negative_numbers_are_large_too(case, found):
    """Magnitudes count, not values; the type of the numbers is kept."""
    places_and_values(case, found)


@lesson.test("top_k", points=1, cases=lambda coin: (picking(coin, 40, k, equal=True) for k in (3, 11)), hidden=True)
def exactly_k_also_where_magnitudes_are_equal(case, found):
    """Where many magnitudes are equal there are still k, those at the first places."""
    places_and_values(case, found)


@lesson.test(
    "top_k",
    points=1,
    cases=lambda coin: (picking(coin, n, k, repeat=2) for n, k in ((5, 9), (0, 3), (6, 6))),
    hidden=True,
)
def fewer_than_k_numbers(case, found):
    """If there are fewer than k numbers all are sent, also none; the vector is not changed."""
    places_and_values(case, found)


# ---- adaptive_threshold ----


def threshold(coin, n: int, keep: float, dtype="f8", repeat: int = 1, side: int = 0) -> Call:
    u = coin.standard_t(3, n).astype(dtype)
    u = side * np.abs(u) if side else u
    count = max(1, round(keep * n))
    return Call((u, keep), truth=sorted((abs(float(x)) for x in u), reverse=True)[count - 1], repeat=repeat)


def tau(case, found) -> None:
    number(found.value, case.truth, f"tau for {case.args[1]:.0%} of {len(case.args[0])} numbers", relative=1e-6)


@lesson.test("adaptive_threshold", points=1, cases=lambda coin: (threshold(coin, 200, keep) for keep in (0.05, 0.5)))
def the_share_passes(case, found):
    """As many numbers as asked for have at least this magnitude."""
    tau(case, found)


@lesson.test(
    "adaptive_threshold",
    points=1,
    cases=lambda coin: (threshold(coin, n, k, "f4", 2) for n, k in ((97, 0.1), (61, 1.0), (33, 0.25))),
    hidden=True,
)
def odd_lengths_and_all_of_them(case, found):
    """Shares that are no whole number are rounded; keep = 1 lets all pass; the vector is not changed."""
    tau(case, found)


@lesson.test(
    "adaptive_threshold",
    points=1,
    cases=lambda coin: (threshold(coin, n, k, side=side) for n, k, side in ((10, 0.01, 1), (1, 0.3, 1), (40, 0.2, -1))),
    hidden=True,
)
def at_least_one_number_passes(case, found):
    """A share that is less than one number still lets the largest pass; magnitudes count, not values."""
    tau(case, found)


@lesson.test("adaptive_threshold", points=1, cases=lambda coin: [Call((np.zeros(0), 0.1), truth=0.0)], hidden=True)
def an_empty_vector_has_threshold_zero(case, found):
    """Without numbers the threshold is 0.0."""
    number(found.value, 0.0, "tau of nothing")


# ---- error_feedback: whole numbers, so that sums are exact ----


def spoken(coin, rounds: int, n: int, k: int, dtype="f4", repeat: int = 1) -> Call:
    """The truth keeps its books in lists."""
    updates = coin.integers(-20, 21, (rounds, n)).astype(dtype)
    unsaid, sent = [0.0] * n, np.zeros_like(updates)
    for t, update in enumerate(updates):
        unsaid = [a + float(b) for a, b in zip(unsaid, update, strict=True)]
        for i in largest(np.array(unsaid), k):
            sent[t, i], unsaid[i] = unsaid[i], 0.0
    return Call((updates, k), truth=(sent, np.array(unsaid, dtype)), repeat=repeat)


def books(case, found) -> None:
    sent, unsaid = pair(found.value, "a pair (sent, unsaid)")
    same(sent, case.truth[0], "what was sent, [round, place]")
    same(unsaid, case.truth[1], "unsaid")


@lesson.test("error_feedback", points=1, cases=lambda coin: [spoken(coin, 1, 8, 2), spoken(coin, 3, 8, 2)])
def what_is_unsaid_is_said_later(case, found):
    """Each round sends the k largest of update + unsaid, and remembers the rest."""
    books(case, found)


@lesson.test(
    "error_feedback", points=2, cases=lambda coin: [spoken(coin, 12, 15, 1), spoken(coin, 30, 40, 5, "f8")], hidden=True
)
def nothing_is_lost_over_many_rounds(case, found):
    """After many rounds all that was sent, plus what is unsaid, is exactly the sum of all updates."""
    books(case, found)
    sent, unsaid = found.value
    same(sent.sum(axis=0) + unsaid, case.args[0].sum(axis=0), "all sent + unsaid")


@lesson.test(
    "error_feedback",
    points=1,
    cases=lambda coin: [spoken(coin, 4, 6, 6, repeat=2), spoken(coin, 3, 5, 2, repeat=2)],
    hidden=True,
)
def updates_are_left_alone_and_memories_are_separate(case, found):
    """The updates are not changed, and a second worker begins with nothing unsaid."""
    books(case, found)


# ---- sparse_allreduce ----


def world(coin, size: int, length: int, k: int, dtype="f4", exact: bool = True, repeat: int = 1, **cluster) -> World:
    args, dense = [], np.zeros((size, length), "f8")
    for rank in range(size):
        index = np.sort(coin.choice(length, min(k, length), replace=False)).astype(np.int32)
        values = (coin.integers(1, 99, len(index)) if exact else coin.standard_normal(len(index))).astype(dtype)
        dense[rank, index] = values
        args.append((index, values, length))
    on = Cluster(Switch(Link(10 ** coin.uniform(-5, -3), 10 ** coin.uniform(6, 9))), **cluster)
    truth = dense.sum(axis=0).astype(dtype)
    return World(size, args, truth=truth, on=on, seed=int(coin.integers(2**31)), repeat=repeat)


def everywhere(case, found) -> None:
    for rank, value in enumerate(found.values):
        same(value, case.truth, f"rank {rank} of {case.size}")


@lesson.test("sparse_allreduce", points=2, cases=lambda coin: (world(coin, n, 12, 3) for n in (2, 3, 4)))
def every_rank_returns_the_sum(case, found):
    """The sum of all ranks' sparse vectors, dense, on every rank: whole numbers, which any order adds up alike."""
    everywhere(case, found)


@lesson.test(
    "sparse_allreduce",
    points=1,
    cases=lambda coin: (world(coin, *given) for given in ((1, 9, 2, "f8"), (5, 4, 4), (3, 10, 0), (6, 30, 2, "f8"))),
    hidden=True,
)
def any_number_of_ranks_and_of_numbers(case, found):
    """It works for one rank, for packets that hold all or nothing, and keeps the type of the values."""
    everywhere(case, found)


@lesson.test(
    "sparse_allreduce",
    points=1,
    cases=lambda coin: (
        world(coin, n, 40, 30, exact=False, repeat=2, link_jitter=5.0, start={1: float(coin.uniform(0, 1e-2))})
        for n in (3, 6)
    ),
    hidden=True,
)
def all_ranks_hold_the_same_bits(case, found):
    """Late messages and a call before change nothing, and all ranks hold the same bits, for all add in one order."""
    for rank, value in enumerate(found.values):
        close(value, case.truth, f"rank {rank} of {case.size}", terms=2 * case.size)
        same(value, found.values[0], f"rank {rank}, compared with rank 0,")


@lesson.test("sparse_allreduce", points=1, cases=lambda coin: (world(coin, n, 5000, 50) for n in (3, 5)), hidden=True)
def packets_go_around_the_ring_once(case, found):
    """Each rank sends N - 1 messages, all to its right neighbour, and no message holds more than one packet."""
    everywhere(case, found)
    n, packet = case.size, 8 * 50 + 100  # the places, the values, and what says that they are two arrays
    for (source, dest), traffic in found.books.per_pair().items():
        if dest != (source + 1) % n:
            raise Wrong(f"rank {source} sent to rank {dest}, which is not its right neighbour {(source + 1) % n}.")
        if traffic.messages != n - 1 or traffic.nbytes > (n - 1) * packet:
            raise Wrong(
                f"rank {source} sent {traffic.messages} messages with {traffic.nbytes} bytes; {n - 1} packets of "
                f"about {8 * 50} bytes are enough."
            )
