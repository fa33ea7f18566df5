"""What exercise 04 is tested for."""

from __future__ import annotations

from math import ceil, log2

import numpy as np

from dlmini.comm.network import Link, Switch
from dlmini.comm.schedules import cut
from dlmini.grade.expect import close, same, same_bits
from dlmini.grade.lesson import Lesson, World, Wrong
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
        for size in (2, 3, 4):
            yield make(coin, size, size * int(coin.integers(1, 9)))

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


def large(make, sizes=(4, 5)):
    """Equal chunks, on an idle network: the closed formula of the time holds."""

    def cases(coin):
        for size in sizes:
            yield make(coin, size, size * int(coin.integers(100, 2000)))

    return cases


def twice(make):
    def cases(coin):
        found = make(coin, 3, 3 * int(coin.integers(2, 9)))
        yield World(found.size, found.args, truth=found.truth, on=found.on, seed=found.seed, repeat=2)

    return cases


def rounded(coin):
    for size in (3, 6):
        yield world(coin, size, 50, exact=False)


# ---- truths ----


def chunk(x, c: int, size: int):
    edges = cut(len(x), size).tolist()
    return x[edges[c] : edges[c + 1]]


def own_chunks(case, found) -> None:
    for rank, value in enumerate(found.values):
        c = (rank + 1) % case.size
        other = another_chunk(value, c, case)
        if other is not None:
            raise Wrong(f"rank {rank} of {case.size} returned chunk {other} of the sum, expected chunk {c}.")
        same(
            value,
            chunk(case.truth, c, case.size),
            f"rank {rank} of {case.size}, chunk {c} of {len(case.truth)} numbers",
        )


def another_chunk(value, mine: int, case) -> int | None:
    """The number of the chunk that this is, if it is one, complete, but not `mine`."""
    parts = [chunk(case.truth, c, case.size) for c in range(case.size)]
    if not isinstance(value, np.ndarray) or not value.size or np.array_equal(value, parts[mine]):
        return None
    return next((c for c, part in enumerate(parts) if np.array_equal(value, part)), None)


def whole_vectors(case, found) -> None:
    for rank, value in enumerate(found.values):
        same(value, case.truth, f"rank {rank} of {case.size}", parts=case.size)


def to_the_right(case, found, laps: int) -> None:
    """Each rank sends (N - 1) messages per lap, to its right neighbour, and all but one chunk per lap."""
    n, item = case.size, case.truth.itemsize
    for (source, dest), traffic in found.books.per_pair().items():
        if dest != (source + 1) % n:
            raise Wrong(f"rank {source} sent to rank {dest}, which is not its right neighbour {(source + 1) % n}.")
        if traffic.messages != laps * (n - 1):
            raise Wrong(f"rank {source} sent {traffic.messages} messages; a ring of {n} takes {laps * (n - 1)}.")
        if traffic.nbytes > laps * (n - 1) * len(case.truth) // n * item:
            raise Wrong(
                f"rank {source} sent {traffic.nbytes} bytes; {laps * (n - 1) * len(case.truth) // n * item} are enough."
            )
    if len(found.books.per_pair()) != n:
        raise Wrong(f"only {len(found.books.per_pair())} of {n} ranks have sent anything.")


def within(case, found, steps: int, nbytes: float) -> None:
    """steps (alpha + nbytes beta), up to rounding."""
    link = case.on.network.link
    bound = steps * (link.latency + nbytes / link.bandwidth)
    if found.seconds > bound * (1 + 1e-9):
        raise Wrong(f"it took {found.seconds:.6g} s on {case.size} ranks; {steps} steps take {bound:.6g} s.")


# ---- ring_reduce_scatter ----


@lesson.test("ring_reduce_scatter", points=2, cases=plain(world))
def each_rank_returns_its_chunk_of_the_sum(case, found):
    """Rank r returns chunk (r + 1) mod N of the sum of all vectors."""
    own_chunks(case, found)


@lesson.test("ring_reduce_scatter", points=1, cases=twice(world), hidden=True)
def reduce_scatter_leaves_its_input_alone(case, found):
    """The vector that was passed in is not changed: a second call with it gives the same."""
    own_chunks(case, found)


@lesson.test("ring_reduce_scatter", points=1, cases=odd(world), hidden=True)
def reduce_scatter_for_any_length_and_any_number_of_ranks(case, found):
    """It works for one rank, for chunks of different lengths, for empty chunks, and keeps the type of the numbers."""
    own_chunks(case, found)


@lesson.test("ring_reduce_scatter", points=1, cases=shaken(world), hidden=True)
def reduce_scatter_in_any_order_of_messages(case, found):
    """Late messages and slow ranks change nothing."""
    own_chunks(case, found)


@lesson.test("ring_reduce_scatter", points=2, cases=large(world), hidden=True)
def reduce_scatter_costs_one_lap(case, found):
    """Every rank sends N - 1 messages of one chunk, to its right neighbour only, and all send at the same time."""
    own_chunks(case, found)
    to_the_right(case, found, laps=1)
    within(case, found, case.size - 1, case.truth.nbytes / case.size)


# ---- ring_allgather ----


@lesson.test("ring_allgather", points=2, cases=plain(gathering))
def every_rank_returns_the_whole_vector(case, found):
    """All chunks, in their order, on every rank."""
    whole_vectors(case, found)


@lesson.test("ring_allgather", points=1, cases=odd(gathering), hidden=True)
def allgather_for_any_length_and_any_number_of_ranks(case, found):
    """It works for one rank, for chunks of different lengths, for empty chunks, and keeps the type of the numbers."""
    whole_vectors(case, found)


@lesson.test("ring_allgather", points=1, cases=shaken(gathering), hidden=True)
def allgather_in_any_order_of_messages(case, found):
    """Late messages and slow ranks change nothing."""
    whole_vectors(case, found)


@lesson.test("ring_allgather", points=1, cases=large(gathering), hidden=True)
def allgather_costs_one_lap(case, found):
    """Every rank sends N - 1 messages of one chunk, to its right neighbour only, and all send at the same time."""
    whole_vectors(case, found)
    to_the_right(case, found, laps=1)
    within(case, found, case.size - 1, case.truth.nbytes / case.size)


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
    whole_vectors(case, found)
    to_the_right(case, found, laps=2)
    within(case, found, 2 * (case.size - 1), case.truth.nbytes / case.size)


# ---- tree_allreduce ----


@lesson.test("tree_allreduce", points=2, cases=plain(world))
def the_tree_returns_the_sum(case, found):
    """Every rank returns the sum of all vectors."""
    whole_vectors(case, found)


@lesson.test("tree_allreduce", points=1, cases=twice(world), hidden=True)
def the_tree_leaves_its_input_alone(case, found):
    """The vector that was passed in is not changed: a second call with it gives the same."""
    whole_vectors(case, found)


@lesson.test("tree_allreduce", points=1, cases=odd(world), hidden=True)
def the_tree_for_any_number_of_ranks(case, found):
    """It works for one rank, and for numbers of ranks that are no power of two."""
    whole_vectors(case, found)


@lesson.test("tree_allreduce", points=1, cases=rounded, hidden=True)
def the_tree_rounds_alike_everywhere(case, found):
    """All ranks hold the same bits."""
    alike(case, found)


@lesson.test("tree_allreduce", points=2, cases=large(world, sizes=(4, 8)), hidden=True)
def the_tree_takes_logarithmic_time(case, found):
    """2 log2 N steps, up the tree and down again, and 2 (N - 1) messages in all."""
    whole_vectors(case, found)
    if found.books.total().messages != 2 * (case.size - 1):
        raise Wrong(
            f"{found.books.total().messages} messages were sent; a tree of {case.size} has {2 * (case.size - 1)}."
        )
    within(case, found, 2 * ceil(log2(case.size)), case.truth.nbytes)


def alike(case, found) -> None:
    for rank, value in enumerate(found.values):
        close(value, case.truth, f"rank {rank} of {case.size}", terms=case.size)
        same_bits(value, found.values[0], rank)
