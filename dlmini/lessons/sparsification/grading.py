"""What exercise 10 is tested for."""

from __future__ import annotations

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.grade.expect import close, named, number, same, short
from dlmini.grade.lesson import Call, Lesson, World, Wrong
from dlmini.lessons.sparsification.mistakes import bad_memories, bad_places, bad_sums, bad_thresholds
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
    about = f"{n} numbers and k = {k}"
    return Call((u, k), truth=(np.array(index, np.int32), u[index]), repeat=repeat, about=about)


def of_every_sort(coin):
    """Distinct magnitudes, the largest of them negative; many equal ones; fewer than k; none."""
    distinct = coin.permutation([(-1.0) ** (i + 1) * i for i in range(20)])
    equal = coin.permutation([3, -3, 3, -3, 3, -3, 1, -1, 1, 9]).astype("f4")
    for u, k, about in ((distinct, 5, "20 numbers and k = 5"), (equal, 4, "equal magnitudes and k = 4")):
        index = largest(u, k)
        yield Call((u, k), truth=(np.array(index, np.int32), u[index]), repeat=2, about=about)
    for n, k in ((30, 1), (5, 9), (6, 6), (0, 3)):
        yield picking(coin, n, k, repeat=2)


def places_and_values(case, found) -> None:
    index, values = pair(found.value, "a pair (index, values)")
    named(index, case.truth[0], f"index, {case.about}", bad_places(*case.args))
    named(values, case.truth[1], "values", {"signs are lost": np.abs(case.truth[1])})
    same(index, case.truth[0], f"index, for k = {case.args[1]}")
    same(values, case.truth[1], "values")


@lesson.test("top_k", points=1, cases=of_every_sort)
def the_largest_magnitudes_are_sent(case, found):
    """The k numbers of largest magnitude, with their places in ascending order (int32); of equal ones the first."""
    places_and_values(case, found)


@lesson.test(
    "top_k", points=1, cases=lambda coin: (picking(coin, 30, 7, "f8", side=side) for side in (-1, 1)), hidden=True
)
def negative_numbers_are_large_too(case, found):
    """Magnitudes count, not values; the type of the numbers is kept."""
    places_and_values(case, found)


@lesson.test(
    "top_k",
    points=1,
    cases=lambda coin: (picking(coin, n, k, equal=True) for n, k in ((40, 3), (400, 80))),
    hidden=True,
)
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
    truth = sorted((abs(float(x)) for x in u), reverse=True)[count - 1] if n else 0.0
    return Call((u, keep), truth=truth, repeat=repeat, about=f"{keep:.0%} of {n} numbers")


def shares(coin):
    yield threshold(coin, 200, 0.05, repeat=2)
    yield threshold(coin, 97, 0.1, "f4")  # 9.7 numbers: 10
    yield threshold(coin, 30, 0.01)
    yield threshold(coin, 0, 0.1)


def tau(case, found) -> None:
    if len(case.args[0]):
        named(found.value, case.truth, f"tau for {case.about}", bad_thresholds(*case.args))
    number(found.value, case.truth, f"tau for {case.args[1]:.0%} of {len(case.args[0])} numbers", relative=1e-6)


@lesson.test("adaptive_threshold", points=1, cases=shares)
def the_share_passes(case, found):
    """As many numbers as asked for have at least this magnitude: round(keep d), at least one; 0.0 if there are none."""
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


@lesson.test(
    "adaptive_threshold", points=1, cases=lambda coin: [threshold(coin, n, 0.3) for n in (0, 2, 11)], hidden=True
)
def an_empty_vector_has_threshold_zero(case, found):
    """Without numbers the threshold is 0.0; with few of them it is one of theirs."""
    tau(case, found)


# ---- error_feedback: whole numbers, so that sums are exact ----


def spoken(coin, rounds: int, n: int, k: int, dtype="f4", repeat: int = 1) -> Call:
    """The truth keeps its books in lists."""
    updates = (coin.integers(1, 21, (rounds, n)) * coin.choice([-1, 1], (rounds, n))).astype(dtype)
    unsaid, sent = [0.0] * n, np.zeros_like(updates)
    for t, update in enumerate(updates):
        unsaid = [a + float(b) for a, b in zip(unsaid, update, strict=True)]
        for i in largest(np.array(unsaid), k):
            sent[t, i], unsaid[i] = unsaid[i], 0.0
    return Call((updates, k), truth=(sent, np.array(unsaid, dtype)), repeat=repeat)


def books(case, found) -> None:
    sent, unsaid = pair(found.value, "a pair (sent, unsaid)")
    named([sent, unsaid], [*case.truth], f"{len(case.args[0])} rounds", bad_memories(*case.args))
    same(sent, case.truth[0], "what was sent, [round, place]")
    same(unsaid, case.truth[1], "unsaid")


@lesson.test(
    "error_feedback", points=1, cases=lambda coin: [spoken(coin, 6, 12, 2, repeat=2), spoken(coin, 3, 8, 2, "f8")]
)
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
    well_known = bad_sums(case)
    for rank, value in enumerate(found.values):
        bad = {sentence: rows[rank] for sentence, rows in well_known.items()}
        named(value, case.truth, f"rank {rank} of {case.size}", bad)
        same(value, case.truth, f"rank {rank} of {case.size}")


def meeting(coin):
    """All meet at two places; in the last world the order of adding shows: 2^26 + 1 - 2^26 in single precision."""
    for n in (4, 3, 2):
        yield together(coin, [coin.integers(1, 99, 8) for _ in range(n)], f"{n} ranks")
    large = 2.0**26 * np.ones(8)
    yield together(coin, [large, np.ones(8), -large, np.ones(8)], ORDER)


ORDER = "numbers of very different size, where the order of adding shows"


def together(coin, numbers: list, about: str) -> World:
    """Each rank has 8 of 500 places; two places are everybody's."""
    args, n = [], len(numbers)
    own = coin.permutation(np.arange(2, 500))[: 6 * n].reshape(n, 6)
    for places, values in zip(own, numbers, strict=True):
        args.append((np.sort([0, 1, *places]).astype(np.int32), np.asarray(values, "f4"), 500))
    truth = np.zeros(500, "f4")
    for index, values, _ in args:
        truth[index] += values
    on = Cluster(Switch(Link(1e-4, 1e8)))
    return World(n, args, truth=truth, on=on, seed=int(coin.integers(2**31)), repeat=2, about=about)


def one_lap(case, found) -> None:
    """N - 1 messages from each rank, all to the right, each with one packet."""
    n, packet = case.size, max(8 * len(index) for index, *_ in case.args) + 100  # and what says that it is two arrays
    for (source, dest), traffic in found.books.per_pair().items():
        messages = traffic.messages // case.repeat
        if dest != (source + 1) % n:
            raise Wrong(f"rank {source} sent to rank {dest}, which is not its right neighbour {(source + 1) % n}.")
        if messages != n - 1:
            raise Wrong(f"rank {source} sent {messages} messages; N - 1 = {n - 1} steps are enough.")
        if traffic.nbytes > traffic.messages * packet:
            each = traffic.nbytes // traffic.messages
            raise Wrong(
                f"rank {source} sent {each} bytes a message, a packet has {packet - 100} or so. Keep it sparse."
            )


@lesson.test("sparse_allreduce", points=2, cases=meeting)
def every_rank_returns_the_sum(case, found):
    """The sum of all ranks' sparse vectors, dense, on every rank, added in the order of ranks; packets go one lap."""
    if case.about == ORDER:
        for rank, value in enumerate(found.values):
            same(value, case.truth, f"rank {rank}, which must add in the order of ranks, not of coming,")
    everywhere(case, found)
    one_lap(case, found)


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
    one_lap(case, found)
