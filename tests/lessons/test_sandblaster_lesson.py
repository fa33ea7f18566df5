"""Lesson 13: ways down a valley, portions handed out by hand and by the real program, tiles."""

import re
from pathlib import Path

import numpy as np
import pytest

from dlmini import lbfgs
from dlmini.lessons.sandblaster import descents, handouts, tiles
from dlmini.lessons.sandblaster.pictures import handed_out, paths, tails
from dlmini.sandblaster.costs import evaluation_seconds

TEXT = Path(__file__).parents[2] / "course" / "13_sandblaster.md"


def test_the_lessons_descent_is_the_librarys():
    ours = descents.descend(descents.banana, (-1.2, 1.0), steps=20)
    theirs = lbfgs(descents.banana, np.array([-1.2, 1.0]), history=10, iterations=20)
    np.testing.assert_allclose(ours.losses, theirs.losses, rtol=1e-9)
    assert ours.gradients == theirs.evaluations


def test_a_valley_is_left_by_lbfgs_long_before_steepest_descent():
    quick, slow = (descents.descend(descents.valley(), np.ones(50), history=h, steps=300) for h in (10, 0))
    aim = 1e-8 * quick.losses[0]
    assert quick.steps_to(aim) < 200
    assert slow.steps_to(aim) == len(slow.losses) == 301


@pytest.mark.parametrize("backup", [False, True])
@pytest.mark.parametrize(("portions", "replicas", "slower"), [(24, 5, 10.0), (40, 5, 10.0), (33, 3, 7.0), (16, 4, 1.0)])
def test_an_evaluation_by_hand_takes_what_the_formula_says(portions, replicas, slower, backup):
    seconds = [slower if r == 1 else 1.0 for r in range(replicas)]
    stretches, end = handouts.evaluation(seconds, portions, backup=backup)
    assert end == pytest.approx(evaluation_seconds(portions, replicas, 1.0, slower, backup=backup).seconds)
    assert sorted(one.portion for one in stretches if one.counts) == list(range(portions))


@pytest.mark.parametrize(
    ("decide", "sentence"),
    [
        (lambda *given: None, r"sent away while portions \[0, 1, 2, 3\] waited"),
        (lambda *given: 0, "given 0, which neither waits nor is held"),
        (lambda *given: "first", "given 'first', which neither"),
    ],
)
def test_a_rule_that_hands_out_nothing_or_what_is_not_there_ends_with_a_sentence(decide, sentence):
    with pytest.raises(ValueError, match=sentence):
        handouts.evaluation([1, 1], 4, decide)


@pytest.mark.parametrize(
    ("direct", "sentence"),
    [
        (lambda grad, pairs: grad, "leads down"),
        (lambda grad, pairs: 0 * grad, "is 0; -H grad leads down"),
        (lambda grad, pairs: None, "has shape"),
        (lambda grad, pairs: np.nan * grad, "is nan"),
    ],
)
def test_a_direction_that_does_not_lead_down_is_refused(direct, sentence):
    with pytest.raises(ValueError, match=sentence):
        descents.descend(descents.banana, (-1.2, 1.0), direct)


def test_one_replica_alone_does_everything_in_order():
    stretches, end = handouts.evaluation([2.0], 3)
    assert [(one.portion, one.start) for one in stretches] == [(0, 0.0), (1, 2.0), (2, 4.0)]
    assert end == 6.0


@pytest.mark.parametrize(
    "asked", [{"slower": 20.0}, {"slower": 10.0, "backup": False}, {"dead": 0}, {"dead": 3, "slower": 20.0}]
)
def test_a_watched_run_ends_with_the_weights_of_a_quiet_one(asked):
    quiet, rough = handouts.portion_run(), handouts.portion_run(**asked)
    assert (quiet.weights == rough.weights).all()
    counted = [(event.number, event.portion) for event in rough.events if event.what == "counted"]
    assert len(counted) == len(set(counted)) == 24 * max(event.number for event in rough.events)
    assert any(event.what == "lost" for event in rough.events) == ("dead" in asked)
    assert any(event.what == "copied" for event in rough.events) == (
        asked.get("slower", 1.0) > 1 and asked.get("backup", True)
    )
    assert 0 < quiet.evaluation_seconds(2) <= rough.evaluation_seconds(2)


def test_tiles_show_who_waits_works_and_counts():
    assert [tiles.sign(portion, {1: [0], 2: [0, 3]}, {0: 2}) for portion in range(4)] == ["2", "0?", "0+3?", ""]
    pixels = tiles.board(9, {1: [0], 2: [0, 3]}, {0: 2})
    step = tiles.TILE + tiles.GAP
    assert pixels.shape == (2 * step - tiles.GAP, tiles.ACROSS * step - tiles.GAP, 3)
    assert (pixels[0, 0] == tiles.colour(2)).all()
    assert (pixels[0, step] == tiles.colour(0, tiles.TINT)).all()
    assert (pixels[0, 2 * step + tiles.TILE - 1] == tiles.colour(3, tiles.TINT)).all()
    assert tuple(pixels[step, 0]) == tiles.WAITS
    assert (tiles.legend({1})[0, step] == 0).all()


@pytest.mark.parametrize("asked", [{"slower": 10.0, "dead": 1}, {"slower": 10.0, "backup": False, "dead": 0}])
def test_who_is_killed_is_shown_dead_though_no_portion_is_lost_with_it(asked):
    watched = handouts.portion_run(**asked)
    assert not any(event.what == "lost" for event in watched.events)
    *_, last = tiles.frames(watched, same=True)
    square = last.pictures[1].pixels[0, asked["dead"] * (tiles.TILE + tiles.GAP)]
    assert (square == 0).all()


def test_the_live_experiment_plays_to_its_end_and_says_that_weights_are_equal():
    desk = tiles.portions_desk()
    desk.choices["dead"].value, desk.choices["slower"].value = "3", 20
    desk.pause = lambda: 0.0
    desk.start()
    desk.thread.join(60)
    assert desk.stage.state == "ended"
    assert desk.stage.text.startswith("Done.")
    assert "weights equal to a quiet run's" in desk.stage.text
    assert desk.stage.labels == ["20 times slower, copies, 3 killed"]
    assert desk.stage.curves[-1][-1][1] == 24 * max(event.number for event in handouts.portion_run().events)


def test_pictures_are_drawn():
    path = descents.descend(descents.banana, (-1.2, 1.0), steps=10)
    for figure in (
        paths(descents.banana, {"L-BFGS": path}),
        handed_out({"one": handouts.evaluation([1, 3], 5)}),
        tails(many=(15, 30)),
    ):
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_the_lesson_checks_every_exercise_of_its_solution():
    source = (TEXT.parents[1] / "solutions" / "13_sandblaster.py").read_text("utf-8")
    tasks = re.findall(r"^def (\w+)\(", source, re.M)
    assert {f'check("13.{task}")' for task in tasks} <= set(TEXT.read_text("utf-8").splitlines())
