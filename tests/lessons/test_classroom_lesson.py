"""Lesson 14: the room's rounds, what is heard of a gradient, and training with a student's own packets."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dlmini.compression import Int8, PerLayer
from dlmini.lessons.classroom import own_codec as own
from dlmini.lessons.classroom import room
from dlmini.lessons.classroom.pictures import budget_lines, costs, heard_bars
from dlmini.studies.classroom.published import COMPUTE, PCS, SYNCS

TEXT = Path(__file__).parents[2] / "course" / "14_classroom.md"
SHAPES = ((3, 4), (4,), (2, 2, 4, 3))


def test_later_rounds_of_a_star_carry_n_packets_in_a_row():
    there, whole = room.calibrated(), 8_735_960
    later = room.later_round(room.rounds_drawn("star"))
    assert later == pytest.approx(COMPUTE / SYNCS + there.fixed + PCS * whole / there.bandwidth, rel=1e-9)


def test_own_packets_say_what_the_library_says_layer_by_layer():
    u = np.random.default_rng(0).standard_normal(12 + 4 + 48).astype(np.float32)
    codec = own.Written().fit(SHAPES).start(u.size)
    packet, theirs = codec.encode(u), PerLayer(Int8()).fit(SHAPES).encode(u)
    np.testing.assert_allclose(packet.dense(), theirs.dense(), rtol=1e-6)
    assert packet.nbytes == theirs.nbytes
    rounded = 4 * 2.0**-24 * np.abs(u).max()  # either side rounds a product and a difference
    np.testing.assert_allclose(codec.unsaid, u - packet.dense(), rtol=0, atol=rounded)
    again = own.Written().fit(SHAPES).start(u.size)
    again.restore(codec.memory())
    np.testing.assert_array_equal(again.encode(u).dense(), codec.encode(u).dense())


def test_the_mean_of_own_packets_is_the_mean():
    u = np.random.default_rng(1).standard_normal((3, 64)).astype(np.float32)
    packets = [own.int8(own.cut(row, SHAPES), own.cut(0 * row, SHAPES))[:2] for row in u]
    found = np.concatenate([one.ravel() for one in own.fix_the_mean(packets)])
    assert np.abs(found - u.mean(0)).max() <= np.abs(u).max() / 254 + 1e-6


def test_six_computers_train_with_own_packets_and_own_mean(monkeypatch):
    monkeypatch.setattr(own, "form", lambda: replace(room.FAST, train=12, epochs=0.5))
    found = own.trained(own.Written(), own.OwnMean(PerLayer(Int8())))
    assert found.curve
    assert found.nbytes > 0


def test_both_functions_are_named_when_both_are_written(monkeypatch, tmp_path):
    (tmp_path / "exercises").mkdir()
    solution = TEXT.parents[1] / "solutions" / "14_classroom.py"
    (tmp_path / "exercises" / "14_classroom.py").write_text(solution.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    codec, star, whose = own.mine()
    assert whose == "This was your int8, fix_the_mean."
    assert codec.decide is not own.int8
    assert star.mean is not own.fix_the_mean


def test_with_one_scale_less_is_heard_than_with_a_scale_each():
    task, grad = room.gradient(side=32, steps=0)
    one, each = (room.heard(task, grad, 10, own_scale) for own_scale in (False, True))
    assert np.mean([share for _, share in one]) < 0.5 * np.mean([share for _, share in each])
    for figure in (
        budget_lines(room.calibrated()),
        heard_bars({"one": one, "each": each}),
        costs({"a": 1.0, "b": -0.1}),
    ):
        assert figure._repr_png_().startswith(b"\x89PNG")


def test_the_lesson_checks_every_exercise_of_its_solution():
    source = (TEXT.parents[1] / "solutions" / "14_classroom.py").read_text("utf-8")
    tasks = re.findall(r"^def (\w+)\(", source, re.M)
    assert {f'check("14.{task}")' for task in tasks} <= set(TEXT.read_text("utf-8").splitlines())
