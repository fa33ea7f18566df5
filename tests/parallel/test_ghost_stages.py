"""The same schedule of a network that fits nowhere: stages that weigh and take time, and hold nothing."""

from itertools import pairwise

import pytest

from dlmini import (
    Cluster,
    Dense,
    Model,
    ReLU,
    Simulated,
    gpipe,
    infiniband,
    interleaved,
    launch,
    one_f_one_b,
    zero_bubble,
)
from dlmini.comm import Link, Switch
from dlmini.parallel import play, price
from dlmini.parallel.balance import balanced
from dlmini.parallel.stage import GhostStage

WIDTH, LAYERS, IMAGES = 262_144, 16, 64
HUGE = Model([layer for _ in range(LAYERS) for layer in (Dense(WIDTH), ReLU())], (WIDTH,))
FAST = 1e15  # FLOPs per second of a rank


def program(comm, timetable, cuts):
    edges = [*pairwise((0, *cuts, len(HUGE.layers)))][comm.rank :: comm.size]
    stages = [GhostStage(HUGE.part(a, b), IMAGES, timetable.split) for a, b in edges]
    play(comm, timetable, stages)
    return sum(stage.nbytes for stage in stages), max(stage.kept for stage in stages)


@pytest.mark.parametrize("schedule", [gpipe, one_f_one_b, interleaved(2), zero_bubble], ids=repr)
def test_a_network_of_four_terabytes_is_played_on_eight_ranks(schedule):
    timetable, free = schedule.plan(8, 16), Cluster(Switch(Link(0.0, float("inf"))), flops=FAST)
    cuts = balanced(HUGE, 8 * schedule.chunks)
    results = launch(program, Simulated(8, free), (timetable, cuts))
    assert HUGE.size * 4 > 4e12
    assert sum(weights for weights, _ in results) == HUGE.size * 4
    each = HUGE.flops / (8 * schedule.chunks) * IMAGES / FAST
    assert results.seconds == pytest.approx(price(timetable, each, each, each).seconds)
    messages = 2 * (8 * schedule.chunks - 1) * 16
    assert results.books.total() == (messages, messages * IMAGES * WIDTH * 4)


def test_messages_of_a_real_network_cost_what_they_weigh():
    """One micro-batch there and back over seven borders: work, and 14 messages one after another."""
    results = launch(program, Simulated(8, Cluster(infiniband, flops=FAST)), (gpipe.plan(8, 1), balanced(HUGE, 8)))
    link, nbytes = infiniband.link, IMAGES * WIDTH * 4
    work = 3 * HUGE.flops * IMAGES / FAST
    assert results.seconds == pytest.approx(work + 14 * (link.latency + nbytes / link.bandwidth))
