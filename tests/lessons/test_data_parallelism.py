"""Lesson 03: many workers are one; what a step costs; the classroom; pictures."""

import numpy as np
import pytest

from dlmini import Classify, Dataset, mlp
from dlmini.comm.network import Link, Switch, gigabit
from dlmini.data import blobs
from dlmini.lessons.data_parallelism import batch_noise as noise
from dlmini.lessons.data_parallelism import classroom, one_or_many
from dlmini.lessons.data_parallelism import costs as machines
from dlmini.lessons.data_parallelism.workers import (
    Averaged,
    learned,
    mean_of_all,
    mine,
    seconds_of,
    star_mean,
    sum_of_all,
)
from dlmini.nn import Dense, Model, ReLU

NET = Model([Dense(8), ReLU(), Dense(3)], (2,), dtype=np.float64)
DATA = blobs(240)


# ---- one or many ----


@pytest.mark.parametrize("workers", [1, 2, 3, 5])
def test_many_workers_walk_the_path_of_one_on_the_union(workers):
    batches = one_or_many.dealt(DATA, workers, batch=6, steps=8)
    assert one_or_many.apart(NET, batches, rate=0.1).max() < 1e-13


def test_the_sum_does_not_walk_that_path():
    batches = one_or_many.dealt(DATA, 4, batch=6, steps=8)
    assert one_or_many.apart(NET, batches, rate=0.1, average=sum_of_all).min() > 0.1


def test_without_rounding_many_are_one_to_the_bit():
    assert not one_or_many.apart(one_or_many.Line(), one_or_many.whole_numbers(), rate=2.0**-6).any()


def test_replicas_are_equal_to_the_bit():
    net = Model([Dense(8), ReLU(), Dense(3)], (2,), kernels="numpy")
    assert one_or_many.spread(one_or_many.paths(net, one_or_many.dealt(DATA, 5, 4, 6), rate=0.1)) == 0


def test_dealt_rows_come_once_before_any_comes_twice():
    numbered = Dataset("numbers", np.arange(60, dtype=np.float32)[:, None], np.zeros(60, np.int64), ("a",))
    seen = [int(v) for worker in one_or_many.dealt(numbered, 3, 4, 5) for x, _ in worker for v in x[:, 0]]
    assert sorted(seen) == list(range(60))


def test_only_the_weighted_mean_of_unequal_shares_is_the_gradient_of_all():
    equal, skewed = (one_or_many.unequal(NET, DATA, sizes) for sizes in ((20, 20, 20), (1, 9, 50)))
    assert max(equal.plain, equal.weighted, skewed.weighted) < 1e-14
    assert skewed.plain > 0.01


# ---- the mean in the library ----


@pytest.fixture(scope="module")
def task():
    return Classify(mlp((8,), input=(2,), classes=3), DATA, DATA, batch=10)


def test_an_average_of_ones_own_trains_like_the_library(task):
    own = learned(task, 3, 0.1, epochs=1, topology=Averaged(star_mean))
    assert own[-1].loss == pytest.approx(learned(task, 3, 0.1, epochs=1)[-1].loss, rel=1e-5)
    assert own[-1].epochs == pytest.approx(1.0)


def test_a_wrong_average_is_really_used(task):
    right, wrong = (learned(task, 3, 0.1, 1, topology=Averaged(a))[-1].loss for a in (mean_of_all, sum_of_all))
    assert abs(right - wrong) > 1e-3


def test_a_students_function_is_plugged_in_and_a_stub_is_named(tmp_path, task):
    file = tmp_path / "03_data_parallelism.py"
    file.write_text("def average_gradients(comm, grad):\n    raise NotImplementedError('not done yet')\n")
    topology, undone = mine(tmp_path)
    learned(task, 2, 0.1, 0.5, topology=topology)
    assert undone == {"average_gradients"}
    file.write_text("def average_gradients(comm, grad):\n    return comm.allreduce(grad) / comm.size\n")
    topology, undone = mine(tmp_path)
    learned(task, 2, 0.1, 0.5, topology=topology)
    assert undone == set()
    assert "average_gradients" in repr(topology)


def test_the_star_costs_two_latencies_and_every_gradient_twice():
    formula = 2 * 100e-6 + 2 * 4 * 4000 / 117e6
    assert seconds_of(star_mean, 5, 1000, gigabit) == pytest.approx(formula, rel=1e-9)


# ---- machines ----


@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_a_step_takes_what_the_formula_says(n):
    nbytes = 4 * 16 * 5 * 100  # every chunk is whole
    for strong in (True, False):
        (found,) = machines.measured([n], 0.05, nbytes, strong=strong)
        assert found.seconds == pytest.approx(float(machines.predicted(n, 0.05, nbytes, strong=strong)), rel=1e-9)


def test_the_best_number_of_machines_is_where_the_formula_is_least():
    n = np.arange(1, 300)
    for alone, nbytes in ((0.1, 320_808), (1.0, 10_000), (0.1, 8_735_960)):
        best = machines.best_number(alone, nbytes)
        assert abs(n[machines.predicted(n, alone, nbytes).argmin()] - best) <= 1
    assert machines.best_number(0.1, 8_735_960) == 1  # the network takes more than it gives
    assert machines.best_number(1.0, 1000, Link(0.0, 1e9)) == np.inf


def test_a_bulk_synchronous_step_takes_as_long_as_its_slowest_machine():
    times = machines.random_times(5, 20)
    assert machines.bulk(times, network=machines.nothing).seconds == pytest.approx(times.max(axis=1).sum(), rel=1e-12)


def test_one_machine_never_waits():
    for kind in ("exponential", "log-normal"):
        assert machines.slowest([1], 100, kind) == pytest.approx([1.0], rel=1e-12)


def test_the_slowest_of_exponential_times_takes_a_harmonic_number():
    for n in (1, 4, 16):
        (found,) = machines.slowest([n], 4000)
        assert abs(found / machines.harmonic(n) - 1) < machines.four_errors(n, 4000)


def test_log_normal_times_have_mean_one_and_the_given_spread():
    times = machines.random_times(10, 20_000, "log-normal", 0.3)
    assert times.mean() == pytest.approx(1, abs=4 * 0.3 / np.sqrt(times.size))
    assert times.std() == pytest.approx(0.3, rel=0.02)


def test_a_slow_machine_makes_the_others_wait_and_not_itself():
    results = machines.bulk(machines.equal(3, 1.0, 2), network=Switch(Link(1e-6, 1e12)), speed={1: 0.5})
    assert results.seconds == pytest.approx(4.0, rel=1e-4)
    assert [round(p.waiting) for p in results.phases] == [2, 0, 2]


# ---- noise ----


def test_the_best_step_with_a_batch_makes_the_predicted_progress():
    found = noise.best_step(DATA.x + 1.0, left=0.5, batch=4, draws=2000)
    assert abs(found.measured - found.formula) < 4 * found.error


def test_the_noise_scale_of_equal_rows_is_nothing():
    same = Dataset("same", np.ones((6, 2), np.float32), np.zeros(6, np.int64), ("a", "b", "c"))
    assert noise.noise_scale(NET, NET.initial(0), same) == pytest.approx(0, abs=1e-12)


# ---- the classroom ----


def test_the_calibrated_classroom_reproduces_its_table():
    for row, allowed in zip(classroom.TABLE, (0.1, 0.1, 0.25, 0.25), strict=True):
        assert classroom.simulated(row).synchronisation == pytest.approx(row.synchronisation, rel=allowed)


def test_a_ring_in_the_classroom_would_synchronise_in_about_22_seconds():
    assert 20 < classroom.by_ring(classroom.TABLE[0]).synchronisation < 24


def test_published_speed_ups_follow_from_published_seconds():
    assert [round(row.speed_up, 2) for row in classroom.TABLE] == [2.14, 3.08, 3.95, 4.76]


# ---- pictures ----


def test_every_picture_can_be_drawn(task):
    from dlmini.lessons.data_parallelism import pictures as show
    from dlmini.lessons.data_parallelism.what_if import what_if

    rows, points = machines.measured([1, 2], 0.1, 1000), {"a": learned(task, 2, 0.1, 1)}
    drawn = [
        show.distances({"a": np.array([1e-7, 2e-7])}, {"one rounding": 2.0**-24}),
        show.mean_or_sum({"N = 1": [2.0, 1.0]}, {"N = 1": [2.0, np.inf]}),
        show.by_epochs_and_steps(points),
        show.slowest_of([1, 2], [1.0, 1.5], {"exponential": [1.0, 1.4]}),
        show.scaling(0.1, 1000, rows, rows),
        show.epochs({row.name: row for row in classroom.TABLE}),
        what_if(machines=3, slow=2.0).figure,
    ]
    assert all(figure._repr_png_().startswith(b"\x89PNG") for figure in drawn)


def test_a_slider_draws_anew():
    from dlmini.lessons.data_parallelism.what_if import what_if

    desk = what_if(machines=2)
    before = desk.picture.value
    desk.choices["slow"].value = 3.0
    assert desk.picture.value != before
    assert "image/png" in desk._repr_mimebundle_()
