"""Every schedule sums what NumPy sums, in its stated order, with its stated bytes, for one rank and for all alike."""

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pytest
from threads import Threads

from dlmini.comm import Hierarchical, doubling, draw, halving_doubling, launch, naive, native, ring, tree
from dlmini.comm.schedules import NOBODY, Plan, Step, added, cut
from dlmini.sim import Cluster, Simulated

SIZES = (1, 2, 3, 5, 8)
SUMS = (ring, tree, doubling, halving_doubling, naive, Hierarchical(2), Hierarchical(3))
HALVES = (ring, halving_doubling, Hierarchical(2))
TRANSPORTS = {
    "priced": Simulated,
    "played": lambda n: Simulated(n, Cluster(priced=False)),
    "threads": Threads,
}


def lengths(n):
    return sorted({0, 1, n - 1, n, 10**5})


def whole_numbers(n, length):
    """One vector per rank, of integers small enough that float32 sums are exact in any order."""
    return np.random.default_rng([n, length]).integers(-1000, 1000, (n, length)).astype(np.float32)


def has_halves(how, n):
    return not isinstance(how, Hierarchical) or n % min(how.per_node, n) == 0


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("where", TRANSPORTS)
def test_every_all_reduce_gives_numpy_s_sum(n, where):
    def program(comm, xs):
        return [comm.allreduce(xs[comm.rank], how=how) for how in (native, *SUMS)]

    for length in lengths(n):
        xs = whole_numbers(n, length)
        for sums in launch(program, TRANSPORTS[where](n), (xs,)):
            for total in sums:
                assert total.dtype == np.float32
                assert np.array_equal(total, xs.sum(0))


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("where", TRANSPORTS)
def test_halves_scatter_the_sum_and_gather_the_parts(n, where):
    ways = [native, *(how for how in HALVES if has_halves(how, n))]

    def program(comm, xs):
        return [(comm.reduce_scatter(xs[comm.rank], how=how), comm.allgather(xs[comm.rank], how=how)) for how in ways]

    for length in lengths(n):
        xs, edges = whole_numbers(n, length), cut(length, n)
        for rank, found in enumerate(launch(program, TRANSPORTS[where](n), (xs,))):
            for part, everything in found:
                assert np.array_equal(part, xs.sum(0)[edges[rank] : edges[rank + 1]])
                assert np.array_equal(everything, xs)


@pytest.mark.parametrize("where", TRANSPORTS)
def test_one_s_own_message_comes_back_itself_and_the_others_as_copies(where):
    def program(comm, shared):
        x = np.full(3, comm.rank)
        everything = comm.allgather(x)
        return everything[comm.rank] is x, [y is z for y in everything for z in shared], shared.append(x)

    for mine, others, _ in launch(program, TRANSPORTS[where](3), ([],)):
        assert mine
        assert sum(others) <= 1


@pytest.mark.parametrize("where", TRANSPORTS)
def test_broadcast_gather_and_barrier_work_for_any_root(where):
    def program(comm):
        comm.barrier()
        said = [comm.bcast(("from", comm.rank), root=root) for root in range(comm.size)]
        return said, [comm.gather(comm.rank**2, root=root) for root in range(comm.size)]

    for n in SIZES:
        for rank, (said, gathered) in enumerate(launch(program, TRANSPORTS[where](n))):
            assert said == [("from", root) for root in range(n)]
            assert gathered == [[r**2 for r in range(n)] if root == rank else None for root in range(n)]


def bits(results):
    return [[x.tobytes() for x in rank] for rank in results]


@pytest.mark.parametrize("n", SIZES)
def test_sums_are_bit_equal_on_every_transport(n):
    xs = np.random.default_rng(n).standard_normal((n, 1001)).astype(np.float32)

    def program(comm):
        return [comm.allreduce(xs[comm.rank], how=how) for how in SUMS] + [comm.reduce_scatter(xs[comm.rank])]

    played, priced, threads = (bits(launch(program, on(n))) for on in TRANSPORTS.values())
    assert played == priced == threads
    for rank in played:
        assert rank[:-1] == played[0][:-1]


def test_sums_have_the_order_that_is_stated():
    x = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
    around = [((x[c, c] + x[(c + 1) % 4, c]) + x[(c + 2) % 4, c]) + x[(c + 3) % 4, c] for c in range(4)]
    assert np.array_equal(added(ring.allreduce(4), x), around)
    assert np.array_equal(added(naive.allreduce(4), x), ((x[0] + x[1]) + x[2]) + x[3])
    for pairs in (tree, doubling):
        assert np.array_equal(added(pairs.allreduce(4), x), (x[0] + x[1]) + (x[2] + x[3]))
    assert np.array_equal(added(halving_doubling.allreduce(4), x), (x[0] + x[2]) + (x[1] + x[3]))


@pytest.mark.parametrize("how", SUMS, ids=repr)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 8, 12, 13])
def test_one_rank_s_steps_are_its_column_of_everybody_s(how, n):
    plans = [how.allreduce(n)]
    if how in HALVES and has_halves(how, n):
        plans += [how.reduce_scatter(n), how.allgather(n)]
    for plan in [*plans, tree.bcast(n, n - 1)]:
        for together, *alone in zip(plan.steps(np.arange(n)), *map(plan.steps, range(n)), strict=True):
            columns = [np.broadcast_to(field, n) for field in together]
            assert [tuple(column[rank] for column in columns) for rank in range(n)] == [tuple(step) for step in alone]


@pytest.mark.parametrize("how", SUMS, ids=repr)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7, 8, 12, 13])
def test_whatever_is_sent_is_expected(how, n):
    for step in how.allreduce(n).steps(np.arange(n)):
        for i in np.flatnonzero(step.to != NOBODY):
            j = step.to[i]
            assert step.source[j] == i
            assert (step.lo[i], step.hi[i]) == (step.into[j], step.end[j])
        assert np.count_nonzero(step.to != NOBODY) == np.count_nonzero(step.source != NOBODY)


@pytest.mark.parametrize("n", [2, 4, 8])
def test_bytes_sent_are_the_closed_forms(n):
    nbytes = 4 * 8 * 100

    def sent(how):
        return launch(lambda comm: comm.allreduce(np.zeros(800, np.float32), how=how), Simulated(n)).books.per_sender()

    assert {t.nbytes for t in sent(ring).values()} == {2 * (n - 1) * nbytes // n}
    assert {t.nbytes for t in sent(halving_doubling).values()} == {2 * (n - 1) * nbytes // n}
    assert {t.messages for t in sent(halving_doubling).values()} == {2 * (n.bit_length() - 1)}
    assert {t.nbytes for t in sent(doubling).values()} == {(n.bit_length() - 1) * nbytes}
    assert [t.nbytes for t in sent(naive).values()] == [(n - 1) * nbytes] + [nbytes] * (n - 1)
    assert sent(tree)[0].nbytes == (n.bit_length() - 1) * nbytes


def test_hierarchical_sends_little_between_nodes():
    def program(comm):
        comm.allreduce(np.zeros(1200, np.float32), how=Hierarchical(4))

    pairs = launch(program, Simulated(12)).books.per_pair()
    far = sum(t.nbytes for (a, b), t in pairs.items() if a // 4 != b // 4)
    assert far == 12 * 2 * (3 - 1) * 4800 // 3 // 4


def test_arrays_keep_their_shape_and_the_input_is_untouched():
    def program(comm):
        x = np.full((2, 3), comm.rank, np.int64)
        total = comm.allreduce(x)
        return x, total, comm.allreduce(np.array(2.5))

    for rank, (x, total, number) in enumerate(launch(program, Simulated(3))):
        assert (x == rank).all()
        assert np.array_equal(total, np.full((2, 3), 3))
        assert number.shape == ()
        assert number == 7.5


def test_a_half_that_does_not_exist_is_refused_by_name():
    with pytest.raises(ValueError, match="Tree\\(\\) has no reduce-scatter; ring"):
        launch(lambda comm: comm.reduce_scatter(np.ones(3), how=tree), Simulated(2))
    with pytest.raises(ValueError, match="3 ranks do not fill nodes of 2"):
        launch(lambda comm: comm.reduce_scatter(np.ones(3), how=Hierarchical(2)), Simulated(3))


@dataclass(frozen=True)
class Relay:
    """A schedule of a student's own: along a chain to the last rank, and back."""

    def allreduce(self, size):
        def steps(r):
            there = [(i, i + 1, True) for i in range(size - 1)]
            back = [(i, i - 1, False) for i in range(size - 1, 0, -1)]
            for i, j, add in there + back:
                to, source = np.where(np.equal(r, i), j, NOBODY), np.where(np.equal(r, j), i, NOBODY)
                yield Step(to, 0 * r, 0 * r + 1, source, 0 * r, 0 * r + 1, add)

        return Plan("relay", size, 1, steps, home=np.array([size - 1]))


def test_a_schedule_of_one_s_own_is_played():
    results = launch(lambda comm: comm.allreduce(np.full(3, 1 << comm.rank), how=Relay()), Simulated(4))
    assert all((total == 15).all() for total in results)


@pytest.mark.parametrize("how", SUMS, ids=repr)
def test_a_drawing_shows_every_chunk_complete_at_the_end(how):
    for n in (1, 2, 5, 8):
        picture = draw(how, n)
        assert (picture.holdings()[0] == 1).all()
        assert (picture.holdings()[-1] == n).all()
        for svg in (picture.svg(), picture.svg(animate=True), picture._repr_svg_()):
            root = ElementTree.fromstring(svg)
            assert len(root.findall(".//{*}line")) == n + len(picture.arrows)


def test_a_drawing_as_text_says_who_sends_what_to_whom():
    assert str(draw(ring, 3)).splitlines() == [
        "ring, 3 ranks, 3 chunks",
        "  0: 0->1 c0+  1->2 c1+  2->0 c2+",
        "  1: 0->1 c2+  1->2 c0+  2->0 c1+",
        "  2: 0->1 c1  1->2 c2  2->0 c0",
        "  3: 0->1 c0  1->2 c1  2->0 c2",
    ]
