"""Lesson 06: paces, staleness, bounds; asynchrony and momentum; Downpour with pieces of one's own; pictures."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from dlmini import Asynchronous, BulkSynchronous, PartlySynchronous, StaleSynchronous
from dlmini.events import Served
from dlmini.lessons.asynchrony import momentum
from dlmini.lessons.asynchrony import own_downpour as own
from dlmini.lessons.asynchrony import pushes as lesson
from dlmini.lessons.asynchrony.pushes import GRADIENT, raced
from dlmini.lessons.backpropagation.descent import plane_net, points


@pytest.fixture(scope="module")
def task():
    return lesson.small_task()


# ---- paces and bounds ----


@pytest.mark.parametrize(("workers", "slower"), [(3, 2.0), (5, 4.0)])
def test_without_waiting_a_slow_worker_costs_its_own_share_only(task, workers, slower):
    found = raced(task, Asynchronous(), slower, workers=workers, rounds=20)
    assert lesson.pace(found) == pytest.approx((workers - 1 + 1 / slower) / GRADIENT, rel=1e-9)


@pytest.mark.parametrize("bound", [0, 2, 6])
def test_a_bound_is_paid_out_once_where_one_is_always_slow(task, bound):
    found = raced(task, StaleSynchronous(bound), slower=4, workers=4, rounds=20)
    assert lesson.ended(found) == pytest.approx((20 - 1 - bound) * 4 * GRADIENT + GRADIENT, rel=1e-9)
    assert lesson.lead(found)[1].max() == bound + 1  # who may begin while `bound` ahead ends one further


def test_where_all_are_slow_at_times_a_bound_is_faster_than_none(task):
    times = [raced(task, sync, jitter=1.0, rounds=30).seconds for sync in (BulkSynchronous(), StaleSynchronous(3))]
    assert times[1] < times[0]


def test_partly_synchronous_workers_meet_when_the_slow_one_has_ended_its_round(task):
    found = raced(task, PartlySynchronous(4), slower=5, rounds=40)
    served = [event.at for event in found.events if isinstance(event, Served)]
    in_one_period = [at for at in served if 5 * GRADIENT + 1e-9 < at <= 10 * GRADIENT + 1e-9]
    assert len(in_one_period) == 7 * 4 + 1


# ---- staleness ----


@pytest.mark.parametrize("conditions", [{}, {"jitter": 1.0}, {"slower": 5.0}])
def test_the_mean_staleness_is_the_number_of_the_others_whatever_the_speeds(task, conditions):
    found = raced(task, Asynchronous(), rounds=80, **conditions)
    assert abs(lesson.staleness(found).mean() / 7 - 1) <= lesson.edge(found)


def test_the_edge_is_small_in_a_long_run_and_a_wrong_law_is_seen(task):
    found = raced(task, Asynchronous(), rounds=80)
    assert lesson.edge(found) < 1 / 8  # so that N - 1 can be told from N
    assert abs(lesson.staleness(found).mean() / 8 - 1) > lesson.edge(found)


def test_the_slow_one_is_the_stale_one(task):
    found = raced(task, Asynchronous(), slower=5.0, rounds=80)
    assert lesson.staleness(found, worker=1).mean() > 4 * lesson.staleness(found, worker=0).mean()


def test_pushes_end_when_the_first_worker_does(task):
    found = lesson.pushes(raced(task, Asynchronous(), slower=5.0, workers=3, rounds=10))
    counts = Counter(event.worker for event in found)
    assert counts == {0: 10, 1: 2, 2: 10}


# ---- momentum ----


@pytest.mark.parametrize(("workers", "rate"), [(1, 0.3), (4, 0.3), (8, 0.5)])
def test_the_mean_asynchronous_path_is_that_of_a_heavy_ball(workers, rate):
    paths = momentum.asynchronous(workers, rate, 30, 3000)
    ball = momentum.heavy_ball(workers, rate, 30)
    assert (np.abs(paths.mean(axis=0) - ball) <= 1.25 * momentum.four_errors(paths) + 1e-12).all()


def test_one_worker_has_no_momentum():
    np.testing.assert_allclose(momentum.heavy_ball(1, 0.3, 20), momentum.alone(0.3, 20), atol=1e-15)
    np.testing.assert_allclose(momentum.asynchronous(1, 0.3, 20, 2)[0], momentum.alone(0.3, 20), atol=1e-15)


# ---- pieces of one's own ----


def test_a_gate_of_ones_own_trains_as_the_librarys_to_the_bit(task):
    mine = raced(task, lesson.OwnSynchronous(2, lesson.may_proceed), slower=3, rounds=12)
    library = raced(task, StaleSynchronous(2), slower=3, rounds=12)
    assert np.array_equal(mine.weights, library.weights)
    assert mine.seconds == library.seconds


def test_a_wrong_gate_is_really_used(task):
    shut = lesson.OwnSynchronous(2, lambda clocks, worker, bound: clocks[worker] <= min(clocks))
    assert lesson.lead(raced(task, shut, slower=3, rounds=12))[1].max() == 1


def test_one_replica_of_downpour_is_plain_descent():
    data = points("spirals")
    net = plane_net(data)
    w, ages = own.downpour(net, data, workers=1, steps=8, push=2, fetch=4)
    alone, grad = net.initial(0), net.zeros()
    for _ in range(8):
        net.loss_and_grad(alone, data.x, data.y, grad)
        alone = alone - 0.1 * grad
    np.testing.assert_allclose(w, alone, rtol=1e-4, atol=1e-6)
    assert max(ages) == 1  # the first push since a fetch is fresh, the second one step old: its own


def test_downpour_refuses_periods_that_do_not_fit():
    data = points("spirals")
    with pytest.raises(ValueError, match="multiple"):
        own.downpour(plane_net(data), data, steps=10, push=2, fetch=3)


# ---- pictures ----


def test_every_picture_of_asynchrony_can_be_drawn(task):
    from dlmini.lessons.asynchrony import pictures as show

    run = raced(task, Asynchronous(), rounds=8, evaluate_every=4)
    drawn = [
        show.staleness_histogram({"a": lesson.staleness(run)}, 7),
        show.leads({"a": run}),
        show.momenta(momentum.asynchronous(3, 0.3, 10, 5), momentum.heavy_ball(3, 0.3, 10), momentum.alone(0.3, 10)),
        show.by_seconds({"a": run, "b": replace(run)}),
    ]
    assert all(figure._repr_png_().startswith(b"\x89PNG") for figure in drawn)


def test_the_slow_worker_sliders_draw_anew():
    from dlmini.lessons.asynchrony.pictures import slow_worker

    desk = slow_worker(sync="asynchronous", workers=3)
    before = desk.time.value
    desk.choices["sync"].value = "bulk-synchronous"
    assert desk.time.value != before
    assert "image/png" in desk._repr_mimebundle_()
