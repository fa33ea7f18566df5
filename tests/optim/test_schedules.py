"""Schedules: t -> rate."""

import math
import pickle

import pytest

from dlmini.optim import SGD, constant, cosine, staircase, warm_up

EVERY = [constant(0.1), staircase(0.1, every=30, factor=0.5), cosine(0.1, 100, floor=0.01), warm_up(cosine(0.1, 9), 5)]


def test_constant_never_changes():
    assert {constant(0.1)(t) for t in range(1000)} == {0.1}


def test_a_staircase_falls_exactly_at_its_edges():
    stairs = staircase(1.0, every=3, factor=0.5)
    assert [stairs(t) for t in range(9)] == [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25]


def test_cosine_starts_at_its_rate_is_half_way_in_the_middle_and_stays_on_its_floor():
    glide = cosine(0.5, rounds=100, floor=0.1)
    assert glide(0) == 0.5
    assert glide(50) == pytest.approx(0.3)
    assert glide(25) == pytest.approx(0.1 + 0.4 * (1 + math.sqrt(0.5)) / 2)
    assert [glide(t) for t in (100, 101, 10_000)] == [0.1, 0.1, 0.1]
    assert all(glide(t) > glide(t + 1) for t in range(100))


def test_warm_up_climbs_in_even_steps_and_then_follows_the_schedule():
    assert [warm_up(0.8, 4)(t) for t in range(6)] == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8, 0.8])
    stairs = staircase(1.0, every=3, factor=0.5)
    warm = warm_up(stairs, 2)
    assert warm(0) == 0.5
    assert [warm(t) for t in range(1, 12)] == [stairs(t) for t in range(1, 12)]


@pytest.mark.parametrize("schedule", EVERY, ids=repr)
def test_schedules_can_be_pickled_and_their_repr_can_be_typed(schedule):
    assert pickle.loads(pickle.dumps(schedule)) == schedule
    assert eval(repr(schedule)) == schedule
    assert pickle.loads(pickle.dumps(SGD(schedule))) == SGD(schedule)


def test_an_optimiser_shows_its_schedule_in_the_legend():
    assert repr(SGD(constant(0.1))) == "SGD(constant(rate=0.1))"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: constant(-0.1), "rate is -0.1"),
        (lambda: staircase(0.1, every=0), "every is 0"),
        (lambda: staircase(0.1, every=10, factor=-1), "factor is -1"),
        (lambda: cosine(0.1, rounds=0), "rounds is 0"),
        (lambda: cosine(0.1, rounds=10, floor=0.2), "floor=0.2 lies above rate=0.1"),
        (lambda: cosine(math.nan, rounds=10), "rate is nan"),
        (lambda: warm_up(-1, 10), "schedule is -1"),
        (lambda: warm_up(0.1, rounds=0), "rounds is 0"),
    ],
)
def test_nonsense_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()
