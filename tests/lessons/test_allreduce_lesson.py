"""Lesson 04: closed forms against simulation, the lower bound, crossings, and orders of addition."""

import re
from pathlib import Path

import numpy as np
import pytest

from dlmini import (
    Hierarchical,
    Processes,
    Simulated,
    gigabit,
    halving_doubling,
    launch,
    naive,
    nvlink_island,
    price,
    ring,
)
from dlmini.comm import Link
from dlmini.lessons.allreduce.costs import (
    FORMULAS,
    SCHEDULES,
    bytes_through,
    crossing,
    descend_together,
    halving_doubling_seconds,
    real_times,
    ring_seconds,
    seconds,
    steps,
    tree_seconds,
    two_level_seconds,
)
from dlmini.lessons.allreduce.pictures import Bench, chunk_lengths, measured, port_loads, prices, races
from dlmini.lessons.allreduce.rounding import alike, first_come, misses, summed, vectors
from dlmini.lessons.backpropagation.descent import plane_net, points
from dlmini.lessons.data_parallelism.classroom import TABLE, calibrated, simulated

PNG = b"\x89PNG"
LINK = gigabit.link
TEXT = Path(__file__).parents[2] / "course" / "04_allreduce.md"


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("n", [2, 4, 16])
@pytest.mark.parametrize("link", [LINK, Link(1e-3, 1e30), Link(0.0, 1e6)], ids=["gigabit", "latency", "bandwidth"])
def test_closed_forms_are_what_is_simulated_for_powers_of_two(name, n, link):
    assert seconds(name, n, 16_000, link) == pytest.approx(FORMULAS[name](n, 16_000, link), rel=1e-12)


@pytest.mark.parametrize("n", [3, 5, 10])
def test_star_and_ring_are_exact_for_every_number_of_ranks_and_the_tree_is_bounded(n):
    nbytes = 30_000
    for name in ("naive", "ring"):
        assert seconds(name, n, nbytes, LINK) == pytest.approx(FORMULAS[name](n, nbytes, LINK), rel=1e-12)
    assert 0.5 * tree_seconds(n, nbytes, LINK) < seconds("tree", n, nbytes, LINK) < tree_seconds(n, nbytes, LINK)


def test_halving_doubling_of_ten_depends_on_a_tie():
    nbytes = 8_000_000
    lucky = halving_doubling_seconds(10, nbytes, LINK)
    found = {round(price(halving_doubling, 10, nbytes, gigabit, seed=seed).seconds, 9) for seed in range(8)}
    assert sorted(found) == pytest.approx([lucky, lucky + nbytes / 2 / LINK.bandwidth], rel=1e-7)


@pytest.mark.parametrize(("d", "n"), [(10, 4), (3, 8), (1000, 7)])
def test_a_ring_takes_as_long_as_its_longest_chunk(d, n):
    slowest = 2 * (n - 1) * (LINK.latency + -(-d // n) * 4 / LINK.bandwidth)
    assert price(ring, n, np.zeros(d, np.float32), gigabit).seconds == pytest.approx(slowest, rel=1e-12)


@pytest.mark.parametrize("n", [2, 5, 8, 10])
def test_nobody_sends_less_than_the_proof_demands(n):
    nbytes = 40 * n
    for name in SCHEDULES:
        sent, received = bytes_through(name, n, nbytes)
        assert sent.sum() == received.sum() >= 2 * (n - 1) * nbytes
        assert sent.max() >= 2 * (n - 1) * nbytes / n
    assert set(bytes_through("ring", n, nbytes).flat) == {2 * (n - 1) * nbytes // n}


def test_bytes_through_are_those_in_the_books():
    x = np.zeros(10, np.float32)
    run = launch(lambda comm: comm.allreduce(x, naive), on=Simulated(5))
    booked = {rank: traffic.nbytes for rank, traffic in run.books.per_sender().items()}
    assert booked == dict(enumerate(bytes_through("naive", 5, 40)[0]))


def test_steps_are_the_longest_chain_of_messages():
    assert {name: steps(name, 16) for name in SCHEDULES} == {
        "naive": 2,
        "tree": 8,
        "ring": 30,
        "recursive doubling": 4,
        "halving-doubling": 8,
    }
    assert [steps("ring", n) for n in (2, 3, 10)] == [2, 4, 18]


@pytest.mark.parametrize(("n", "high"), [(4, 1 << 20), (16, 1 << 22)])
def test_tree_and_ring_cross_where_the_formula_says(n, high):
    depth = n.bit_length() - 1
    predicted = LINK.latency * LINK.bandwidth * (n - 1 - depth) / (depth - (n - 1) / n)
    assert abs(crossing("tree", "ring", n, LINK, high=high) - predicted) <= n


def test_those_that_never_cross_are_refused():
    with pytest.raises(ValueError, match="do not cross"):
        crossing("ring", "naive", 16, LINK)


def test_two_levels_cost_what_the_formula_says_and_beat_the_flat_ring():
    nbytes = 32 * 10**6
    found = price(Hierarchical(8), 32, nbytes, nvlink_island).seconds
    assert found == pytest.approx(two_level_seconds(4, nbytes, nvlink_island), rel=1e-12)
    assert 5 * found < price(ring, 32, nbytes, nvlink_island).seconds


def test_every_schedule_rounds_alike_on_all_ranks_within_the_textbook_bound_and_as_itself_again():
    xs = vectors(8, 200)
    found = {name: summed(how, xs) for name, how in SCHEDULES.items()}
    for name, how in SCHEDULES.items():
        assert alike([*found[name], *summed(how, xs, seed=3)])
        assert 0 < misses(found[name][0], xs) < 8 - 1
    assert not alike([found["naive"][0], found["ring"][0]])


def test_first_come_first_added_depends_on_the_order_of_coming():
    xs = vectors(8, 200)
    runs = [summed(first_come, xs, seed) for seed in range(6)]
    assert all(map(alike, runs))
    assert not alike([run[0] for run in runs])


def test_ranks_that_add_their_gradients_descend_as_one_would():
    data = points("spirals")
    net = plane_net(data)
    together = launch(descend_together, on=Simulated(3), args=(net, data, lambda comm, x: comm.allreduce(x, ring), 5))
    alone = launch(descend_together, on=Simulated(1), args=(net, data, lambda comm, x: x, 5))[0]
    assert alike(together.values)
    np.testing.assert_allclose(together[0], alone, rtol=0, atol=1e-5)


def test_real_ranks_give_a_point_for_every_way_size_and_repetition():
    found = real_times(Processes(2), [400, 4000], repeats=2)
    assert set(found) == {*SCHEDULES, "native"}
    assert all([p.nbytes for p in points_] == [400, 400, 4000, 4000] for points_ in found.values())
    assert measured(found, "two")._repr_png_().startswith(PNG)


def test_the_classrooms_ring_falls_into_the_predicted_window_and_latencies_would_spoil_it():
    by_ring = simulated(TABLE[0], ring)
    assert 20 <= by_ring.synchronisation <= 24
    assert by_ring.epoch == pytest.approx(50, abs=1)
    fixed, bandwidth = calibrated()
    as_latency = 31.75 * ring_seconds(6, TABLE[0].mib * 2**20, Link(fixed / 2, bandwidth))
    assert as_latency > simulated(TABLE[0], naive).synchronisation


def test_the_bench_follows_its_sliders():
    bench = Bench()
    before = bench.picture.value
    bench.ranks.value = 4
    assert bench.picture.value not in ("", before)
    assert bench.words.value == prices(4, 1_000_000, Link(1e-4, 1e8))


def test_the_fastest_is_the_one_in_bold():
    assert re.findall(r"<b>([\w-]+)", prices(16, 256, LINK)) == ["naive"]
    assert re.findall(r"<b>([\w-]+)", prices(10, 10_000_000, LINK)) == ["ring"]


def test_figures_are_drawn():
    for figure in (races(3, 1000, LINK), port_loads(5, 1000), chunk_lengths([(3, 8), (0, 2)])):
        assert figure._repr_png_().startswith(PNG)


def test_the_lesson_checks_every_exercise_of_its_solution():
    source = (TEXT.parents[1] / "solutions" / "04_allreduce.py").read_text("utf-8")
    tasks = re.findall(r"^def (\w+)\(comm", source, re.M)
    assert {f'check("04.{task}")' for task in tasks} <= set(TEXT.read_text("utf-8").splitlines())
