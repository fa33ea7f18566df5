"""`play` on simulated ranks: any legal order of messages, times as priced, messages as counted."""

import numpy as np
import pytest
from examples import LONG, examples
from hypothesis import given
from hypothesis import strategies as st

from dlmini import Cluster, Simulated, explore, launch
from dlmini.comm import Link, Switch
from dlmini.comm.ghost import Ghost
from dlmini.parallel import gpipe, interleaved, one_f_one_b, pipedream, play, price, zero_bubble
from dlmini.parallel.bubbles import draw
from dlmini.parallel.timetable import BACKWARD, FORWARD, WEIGHTS

FREE = Switch(Link(0.0, float("inf")))
SCHEDULES = (gpipe, one_f_one_b, interleaved(2), interleaved(3), zero_bubble, pipedream)


class Sums:
    """A stage that adds its number on the way there, and writes down what passes."""

    def __init__(self, number, costs=None):
        self.number, self.costs, self.seen = number, costs or {}, []

    def forward(self, micro, x):
        self.seen.append((FORWARD, micro))
        return np.array([float(micro)]) if x is None else x + self.number

    def backward(self, micro, dy):
        self.seen.append((BACKWARD, micro))
        return np.array([-float(micro)]) if dy is None else dy - self.number

    def weights(self, micro, nothing):
        assert nothing is None
        self.seen.append((WEIGHTS, micro))

    def flops(self, kind, micro):
        return self.costs.get(kind, 0.0)


def stages_of(comm, timetable, costs=None):
    return [Sums(timetable.stage(comm.rank, c), costs) for c in range(timetable.chunks)]


def program(comm, timetable):
    stages = stages_of(comm, timetable)
    play(comm, timetable, stages)
    return [stage.seen for stage in stages]


@pytest.mark.parametrize("schedule", SCHEDULES, ids=repr)
@pytest.mark.parametrize("ranks", [2, 4])
def test_no_deadlock_in_200_orders_and_always_the_same_work(schedule, ranks):
    timetable = schedule.plan(ranks, 2 * ranks)
    found = explore(program, Simulated(ranks), 2000 if LONG else 200, (timetable,), same=True)
    assert found.error is None, found


def timed(comm, timetable, f, b, w):
    play(
        comm, timetable, stages_of(comm, timetable, {FORWARD: f, BACKWARD: b if timetable.split else b + w, WEIGHTS: w})
    )
    return comm.now()


@examples(60)
@given(
    st.sampled_from(SCHEDULES),
    st.integers(1, 6),
    st.integers(1, 4),
    *[st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0]) for _ in range(3)],
)
def test_virtual_time_is_what_price_tells(schedule, ranks, groups, f, b, w):
    """Equal stages and free messages: idle shares by price, by virtual time and (test_timetables) by formula agree."""
    timetable = schedule.plan(ranks, ranks * groups)
    cluster = Cluster(FREE, flops=1.0)
    results = launch(timed, Simulated(ranks, cluster, spans=True), (timetable, f, b, w))
    priced = price(timetable, f, b, w)
    assert results.seconds == pytest.approx(priced.seconds, rel=1e-12)
    assert draw(results.events).idle_share == pytest.approx(priced.idle_share, abs=1e-12)
    for rank, phases in enumerate(results.phases):
        assert phases.compute == pytest.approx(priced.busy[rank])


def test_one_message_per_border_direction_and_micro_batch():
    for schedule in SCHEDULES:
        timetable = schedule.plan(3, 6)
        books = launch(program, Simulated(3), (timetable,)).books
        assert books.total().messages == 2 * (timetable.stages - 1) * 6
        assert books.total().nbytes == 8 * books.total().messages


class Heavy:
    """A stage that fits nowhere: 200 GB of activations a micro-batch."""

    def __init__(self, first, last):
        self.first, self.last = first, last

    def forward(self, micro, x):
        assert (x is None) == self.first
        return Ghost((50_000_000_000,))

    def backward(self, micro, dy):
        assert (dy is None) == self.last
        return Ghost((50_000_000_000,))

    def flops(self, kind, micro):
        return 1e9


def heavy(comm, timetable):
    play(comm, timetable, [Heavy(comm.rank == 0, comm.rank == comm.size - 1)])


def test_ghosts_are_played_by_the_same_code():
    timetable = one_f_one_b.plan(4, 8)
    results = launch(heavy, Simulated(4, Cluster(FREE, flops=1e9)), (timetable,))
    assert results.seconds == pytest.approx(price(timetable, 1, 1, 0).seconds)
    assert results.books.total().nbytes == 2 * 3 * 8 * 200_000_000_000
