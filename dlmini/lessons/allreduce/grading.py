"""What exercise 04 is tested for."""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.comm.schedules import cut
from dlmini.grade.expect import close, same, same_bits
from dlmini.grade.lesson import Lesson, World, Wrong
from dlmini.lessons.allreduce.mistakes import chunk, name_chunk, name_parts, name_places
from dlmini.sim.cluster import Cluster

lesson = Lesson("04_allreduce")


# ---- worlds: vectors by rank, and the truth: their sum ----


def vectors(coin, size: int, length: int, dtype="f4", exact: bool = True) -> list[np.ndarray]:
    """Whole numbers, so that sums are exact in any order; or numbers of which every sum is rounded."""
    shape = size, length
    return list((coin.integers(-99, 99, shape) if exact else coin.standard_normal(shape)).astype(dtype))


def world(coin, size: int, length: int, dtype="f4", exact: bool = True, **cluster) -> World:
    xs = vectors(coin, size, length, dtype, exact)
    total = np.sum(np.array(xs, dtype), axis=0, dtype="f8").astype(dtype)
    return World(size, [(x,) for x in xs], truth=total, on=network(coin, **cluster), seed=int(coin.integers(2**31)))


def gathering(coin, size: int, length: int, dtype="f4", **cluster) -> World:
    """Rank r brings chunk (r + 1) mod N of one vector."""
    (x,) = vectors(coin, 1, length, dtype)
    edges = cut(length, size).tolist()
    mine = [(x[edges[(r + 1) % size] : edges[(r + 1) % size + 1]].copy(), length) for r in range(size)]
    return World(size, mine, truth=x, on=network(coin, **cluster), seed=int(coin.integers(2**31)))


def network(coin, **cluster) -> Cluster:
    return Cluster(Switch(Link(10 ** coin.uniform(-5, -3), 10 ** coin.uniform(6, 9))), **cluster)


def plain(make):
    def cases(coin):
        for size in (3, 4, 2):
            yield make(coin, size, size * int(coin.integers(3, 9)))

    return cases


def uneven(make):
    """Chunks that are not equal, and chunks that are empty; both types."""

    def cases(coin):
        yield make(coin, 4, 14, "f8")
        yield make(coin, 3, 3 * int(coin.integers(1, 9)) + 2)
        yield make(coin, 4, 3)

    return cases


def odd(make):
    """Any number of ranks, also one; vectors that cannot be cut evenly, or are shorter than the ring; two types."""

    def cases(coin):
        for size, dtype in ((1, "f4"), (2, "f8"), (5, "f4"), (6, "f8"), (7, "f4")):
            yield make(coin, size, size * int(coin.integers(1, 9)) + int(coin.integers(1, size + 1)), dtype)
        yield make(coin, 5, 3)

    return cases


def shaken(make):
    """Messages that come late, ranks that are slow."""

    def cases(coin):
        for size in (3, 6):
            start = {rank: float(coin.uniform(0, 1e-2)) for rank in range(size)}
            yield make(coin, size, 4 * size + 1, link_jitter=5.0, start=start)

    return cases


def few(make, sizes=(3, 4)):
    """Equal chunks, on an idle network, for the count of messages and seconds."""

    def cases(coin):
        for size in sizes:
            yield make(coin, size, size * int(coin.integers(20, 90)))

    return cases


def large(make, sizes=(4, 5)):
    """Equal chunks, on an idle network: the closed formula of the time holds."""

    def cases(coin):
        for size in sizes:
            yield make(coin, size, size * int(coin.integers(100, 2000)))

    return cases


def twice(make):
    def cases(coin):
        found = make(coin, 3, 3 * int(coin.integers(2, 9)))
        yield replace(found, repeat=2)
        yield replace(make(coin, 3, 3 * int(coin.integers(2, 9)), "f8"), repeat=2)

    return cases


def rounded(coin):
    for size in (3, 6):
        yield world(coin, size, 50, exact=False)


# ---- truths ----


def own_chunks(case, found) -> None:
    for rank, value in enumerate(found.values):
        c, who = (rank + 1) % case.size, f"rank {rank} of {case.size}"
        wanted = chunk(case.truth, c, case.size)
        if isinstance(value, np.ndarray) and not np.array_equal(value, wanted):
            name_chunk(value, c, case, who)
        same(value, wanted, f"{who}, chunk {c} of {len(case.truth)} numbers")


def whole_vectors(case, found) -> None:
    """The sum of all vectors on every rank."""
    for rank, value in enumerate(found.values):
        who = f"rank {rank} of {case.size}"
        if isinstance(value, np.ndarray) and not np.array_equal(value, case.truth):
            name_parts([x for (x,) in case.args], value, who)
        same(value, case.truth, who, parts=case.size)


def up_and_down(case, found) -> None:
    """The same, of a tree: what rank 0 has and others have not did not come back down."""
    n, right = case.size, [isinstance(v, np.ndarray) and np.array_equal(v, case.truth) for v in found.values]
    if right[0] and not all(right):
        raise Wrong(f"rank {right.index(False)} of {n} has not got the sum that rank 0 has: it must come back down.")
    whole_vectors(case, found)


def gathered(case, found) -> None:
    """All chunks of the one vector, in their places."""
    for rank, value in enumerate(found.values):
        who = f"rank {rank} of {case.size}"
        if isinstance(value, np.ndarray) and value.shape == case.truth.shape:
            name_places(value, case, who)
        same(value, case.truth, who, parts=case.size)


def to_the_right(case, found, laps: int) -> None:
    """Each rank sends (N - 1) messages per lap, to its right neighbour, and all but one chunk per lap."""
    n, due = case.size, laps * (case.size - 1) * len(case.truth) // case.size * case.truth.itemsize
    traffic = {pair: t for pair, t in found.books.per_pair().items() if t.messages}
    for source, dest in traffic:
        if dest != (source + 1) % n:
            where = "its left" if dest == (source - 1) % n else f"rank {dest}"
            raise Wrong(
                f"rank {source} of {n} sent to {where}; in a ring one sends to the right, rank {(source + 1) % n}."
            )
    if len(traffic) != n and n > 1:
        raise Wrong(f"only {len(traffic)} of {n} ranks have sent anything.")
    for (source, _), sent in traffic.items():
        if sent.messages != laps * (n - 1):
            raise Wrong(
                f"rank {source} sent {sent.messages} messages; a lap around {n} ranks has N - 1 steps, "
                f"so {laps * (n - 1)} in all."
            )
        if sent.nbytes > due:
            raise Wrong(
                f"rank {source} sent {sent.nbytes} bytes; one chunk in each step, {due} bytes in all, is enough."
            )


def within(case, found, steps: int, nbytes: float, why: str = "") -> None:
    """steps (alpha + nbytes beta), up to rounding."""
    link = case.on.network.link
    bound = steps * (link.latency + nbytes / link.bandwidth)
    if found.seconds > bound * (1 + 1e-9):
        raise Wrong(f"it took {found.seconds:.6g} s on {case.size} ranks; {steps} steps take {bound:.6g} s{why}.")


AT_ONCE = ": somebody waits before it sends, but all ranks must send at the same time"


# ---- ring_reduce_scatter ----


@lesson.test("ring_reduce_scatter", points=1, cases=plain(world))
def each_rank_returns_its_chunk_of_the_sum(case, found):
    """Rank r returns chunk (r + 1) mod N of the sum of all vectors."""
    own_chunks(case, found)


@lesson.test("ring_reduce_scatter", points=1, cases=twice(world))
def reduce_scatter_leaves_its_input_alone(case, found):
    """The vector that was passed in is not changed: a second call with it gives the same."""
    own_chunks(case, found)


@lesson.test("ring_reduce_scatter", points=1, cases=uneven(world))
def reduce_scatter_with_unequal_chunks(case, found):
    """Chunks may be unequal, or empty; the numbers keep their type."""
    own_chunks(case, found)


@lesson.test("ring_reduce_scatter", points=1, cases=few(world))
def reduce_scatter_takes_one_lap(case, found):
    """N - 1 steps; in each of them all ranks send one chunk to the right, at the same time."""
    one_lap(case, found, own_chunks)


@lesson.test("ring_reduce_scatter", points=1, cases=odd(world), hidden=True)
def reduce_scatter_for_any_length_and_any_number_of_ranks(case, found):
    """It works for one rank, for chunks of different lengths, for empty chunks, and keeps the type of the numbers."""
    own_chunks(case, found)


@lesson.test("ring_reduce_scatter", points=1, cases=shaken(world), hidden=True)
def reduce_scatter_in_any_order_of_messages(case, found):
    """Late messages and slow ranks change nothing."""
    own_chunks(case, found)


@lesson.test("ring_reduce_scatter", points=1, cases=large(world), hidden=True)
def reduce_scatter_costs_one_lap(case, found):
    """Every rank sends N - 1 messages of one chunk, to its right neighbour only, and all send at the same time."""
    one_lap(case, found, own_chunks)


def one_lap(case, found, values) -> None:
    """Who talks to whom tells more than wrong numbers do, so it comes first."""
    to_the_right(case, found, laps=1)
    values(case, found)
    within(case, found, case.size - 1, case.truth.nbytes / case.size, AT_ONCE)


# ---- ring_allgather ----


@lesson.test("ring_allgather", points=1, cases=plain(gathering))
def every_rank_returns_the_whole_vector(case, found):
    """All chunks, in their order, on every rank."""
    gathered(case, found)


@lesson.test("ring_allgather", points=1, cases=uneven(gathering))
def allgather_with_unequal_chunks(case, found):
    """Chunks may be unequal, or empty; the numbers keep their type."""
    gathered(case, found)


@lesson.test("ring_allgather", points=1, cases=few(gathering))
def allgather_takes_one_lap(case, found):
    """N - 1 steps; in each of them all ranks send one chunk to the right, at the same time."""
    one_lap(case, found, gathered)


@lesson.test("ring_allgather", points=1, cases=odd(gathering), hidden=True)
def allgather_for_any_length_and_any_number_of_ranks(case, found):
    """It works for one rank, for chunks of different lengths, for empty chunks, and keeps the type of the numbers."""
    gathered(case, found)


@lesson.test("ring_allgather", points=1, cases=shaken(gathering), hidden=True)
def allgather_in_any_order_of_messages(case, found):
    """Late messages and slow ranks change nothing."""
    gathered(case, found)


@lesson.test("ring_allgather", points=1, cases=large(gathering), hidden=True)
def allgather_costs_one_lap(case, found):
    """Every rank sends N - 1 messages of one chunk, to its right neighbour only, and all send at the same time."""
    one_lap(case, found, gathered)


# ---- ring_allreduce: both halves ----


@lesson.test("ring_allreduce", points=1, cases=plain(world))
def every_rank_returns_the_sum(case, found):
    """Your reduce-scatter followed by your all-gather gives the sum of all vectors on every rank."""
    whole_vectors(case, found)


@lesson.test("ring_allreduce", points=1, cases=rounded, hidden=True)
def all_ranks_round_alike(case, found):
    """Rounding depends on the order of addition, and yet all ranks hold the same bits."""
    alike(case, found)


@lesson.test("ring_allreduce", points=1, cases=large(world), hidden=True)
def allreduce_costs_two_laps(case, found):
    """2 (N - 1) (alpha + S / N beta): the fewest bytes that are possible."""
    to_the_right(case, found, laps=2)
    whole_vectors(case, found)
    within(case, found, 2 * (case.size - 1), case.truth.nbytes / case.size, AT_ONCE)


# ---- tree_allreduce ----


@lesson.test("tree_allreduce", points=1, cases=plain(world))
def the_tree_returns_the_sum(case, found):
    """Every rank returns the sum of all vectors."""
    up_and_down(case, found)


@lesson.test("tree_allreduce", points=1, cases=twice(world))
def the_tree_leaves_its_input_alone(case, found):
    """The vector that was passed in is not changed, and the numbers keep their type."""
    up_and_down(case, found)


@lesson.test("tree_allreduce", points=1, cases=few(world, sizes=(6, 8)))
def the_tree_is_a_tree(case, found):
    """2 ceil(log2 N) steps and 2 (N - 1) messages: rank 0 hears no more than ceil(log2 N) ranks."""
    a_tree(case, found)


@lesson.test("tree_allreduce", points=1, cases=odd(world), hidden=True)
def the_tree_for_any_number_of_ranks(case, found):
    """It works for one rank, and for numbers of ranks that are no power of two."""
    up_and_down(case, found)


@lesson.test("tree_allreduce", points=1, cases=rounded, hidden=True)
def the_tree_rounds_alike_everywhere(case, found):
    """All ranks hold the same bits."""
    alike(case, found)


@lesson.test("tree_allreduce", points=1, cases=large(world, sizes=(4, 8)), hidden=True)
def the_tree_takes_logarithmic_time(case, found):
    """2 log2 N steps, up the tree and down again, and 2 (N - 1) messages in all."""
    a_tree(case, found)


def a_tree(case, found) -> None:
    levels, sent = ceil(log2(case.size)), found.books.total().messages
    up_and_down(case, found)
    heard = [source for (source, dest), t in found.books.per_pair().items() if dest == 0 and t.messages]
    if sent != 2 * (case.size - 1):
        raise Wrong(
            f"{sent} messages were sent; a tree of {case.size} has {2 * (case.size - 1)}, one up and one down each."
        )
    if len(heard) > levels:
        raise Wrong(f"this is a star: rank 0 hears {len(heard)} ranks, one after another; in a tree it hears {levels}.")
    within(case, found, 2 * levels, case.truth.nbytes)


def alike(case, found) -> None:
    for rank, value in enumerate(found.values):
        close(value, case.truth, f"rank {rank} of {case.size}", terms=case.size)
        same_bits(value, found.values[0], rank)
