"""Lesson 07: bytes by period, two valleys, the bound, the outer optimiser; pictures."""

import re
from pathlib import Path

import numpy as np
import pytest

from dlmini import SGD, Classify, Nesterov, Recipe, Simulated, mlp, split_by_label, train
from dlmini.data import blobs
from dlmini.lessons.local_sgd import periods as local_sgd
from dlmini.lessons.local_sgd import pictures

PNG = b"\x89PNG"
DATA = blobs(240)
TEXT = Path(__file__).parents[2] / "course" / "07_local_sgd.md"
VALLEYS = (1.0, 0.2), (-1.0, 1.0)


@pytest.fixture(scope="module")
def task():
    return Classify(mlp((8,), input=(2,), classes=3), DATA, DATA, batch=10)


# ---- two valleys ----


@pytest.mark.parametrize("period", [1, 4, 16, 50])
def test_two_valleys_come_to_rest_where_the_formula_says(period):
    path = local_sgd.descent(*VALLEYS, 0.1, period, 500 * period)
    assert path.shape == (500 * period + 1, 2)
    assert path[-1] == pytest.approx(np.full(2, local_sgd.rests_at(*VALLEYS, 0.1, period)))


def test_a_period_of_one_is_right_and_a_long_one_takes_the_plain_mean():
    assert local_sgd.rests_at(*VALLEYS, 0.1, 1) == pytest.approx(-2 / 3)
    assert local_sgd.rests_at(*VALLEYS, 0.1, 2000) == pytest.approx(0)


@pytest.mark.parametrize("period", [1, 7, 64])
def test_equal_curvatures_or_equal_minima_lose_nothing(period):
    assert local_sgd.rests_at((0.5, 0.5), (-1, 2), 0.1, period) == pytest.approx(0.5)
    assert local_sgd.rests_at((0.1, 0.9), (2, 2), 0.1, period) == pytest.approx(2)


def test_workers_differ_only_between_meetings():
    path = local_sgd.descent(*VALLEYS, 0.1, 5, 20)
    apart = np.abs(path[:, 0] - path[:, 1])
    assert (apart[::5] == 0).all()
    assert (apart[4::5] > 0).all()


def test_an_outer_optimiser_ends_where_averaging_does():
    for rate, momentum in ((1.0, 0.0), (0.7, 0.5), (0.7, 0.9)):
        end = local_sgd.outer_descent(local_sgd.nesterov, *VALLEYS, 0.1, 4, 300, rate, momentum)[-1]
        assert end == pytest.approx(local_sgd.rests_at(*VALLEYS, 0.1, 4))


def test_the_outer_step_is_that_of_the_library():
    coin, w = np.random.default_rng(0), np.ones(6)
    library, v, mine = Nesterov(0.7, momentum=0.9).start(6), np.zeros(6), w.copy()
    for _ in range(4):
        delta = coin.standard_normal(6)
        mine, v = local_sgd.nesterov(mine, mine - delta, v, 0.7, 0.9)
        w = w - library(delta.astype("f4"))
    assert mine == pytest.approx(w, abs=1e-5)


# ---- the bound ----


def test_the_bound_of_the_seeds_runs_is_below_one():
    assert local_sgd.longest_period(25_000 / 60, 60) == pytest.approx(0.2096, abs=1e-4)
    assert local_sgd.longest_period(25_000, 60) == pytest.approx(0.5833, abs=1e-4)
    assert local_sgd.longest_period(local_sgd.steps_for(4, 60), 60) == pytest.approx(4)


# ---- networks ----


def test_bytes_fall_with_the_period_and_steps_stay(task):
    rows = local_sgd.by_period(task, (1, 2, 4), 3, 1, 0.1)
    assert [row.period for row in rows] == [1, 2, 4]
    assert [rows[0].megabytes / row.megabytes for row in rows] == pytest.approx([1, 2, 4])
    assert rows[0].seconds > rows[1].seconds > rows[2].seconds


def test_a_period_of_one_is_bulk_synchronous(task):
    local = local_sgd.learned(task, 1, 3, 1, 0.1).weights
    bulk = train(task, Recipe(optimizer=SGD(0.1), rounds=task.steps(1, 3)), Simulated(3)).result().weights
    assert local == pytest.approx(bulk, abs=1e-5)
    assert np.abs(local - local_sgd.learned(task, 4, 3, 1, 0.1).weights).max() > 1e-4


def test_an_outer_step_of_one_without_momentum_changes_no_bit(task):
    plain, outer = (local_sgd.learned(task, 4, 3, 1, 0.1, outer=o) for o in (None, Nesterov(1.0, momentum=0.0)))
    assert (plain.weights == outer.weights).all()


def test_the_way_of_dealing_reaches_the_workers(task):
    calls = []

    def dealt(rows, parts, seed=0):
        calls.append(parts)
        return split_by_label(rows, parts, seed=seed)

    local_sgd.by_period(task, (4,), 3, 1, 0.1, split=dealt)
    assert set(calls) == {3}


# ---- pictures ----


def test_every_picture_can_be_drawn():
    rows = [local_sgd.Row(f"p = {p}", p, 0.8, 10 / p, 1.0) for p in (1, 4)]
    drawn = [pictures.fronts({"equal": rows}), pictures.valleys(8), pictures.bound((4, 60), {"seed": (417, 60)})]
    assert all(figure._repr_png_().startswith(PNG) for figure in drawn)


def test_the_sliders_draw_again():
    board = pictures.two_valleys(period=3)
    before = board.picture.value
    board.choices["period"].value = 40
    assert '<img src="data:image/png' in before
    assert board.picture.value != before
    assert "image/png" in board._repr_mimebundle_()


def test_every_exercise_of_the_lesson_is_introduced_and_checked():
    checked = set(re.findall(r'check\("07\.(\w+)"\)', TEXT.read_text(encoding="utf-8")))
    assert checked == {"local_round", "outer_step"}
