"""The class of thirty that a teacher may look at first: all that can come is in it, and good answers are seen to be."""

from collections import Counter

import pytest

from dlmini.grade.class_run import grade_class
from dlmini.grade.demo.answers import HOSTILE, NEARLY, RIGHT
from dlmini.grade.demo.class_of_thirty import NAMES, hand_ins, make_class
from dlmini.grade.demo.lesson import lesson
from dlmini.grade.examine import Examiner
from dlmini.grade.gradebook.people import people
from dlmini.grade.gradebook.roster import read_roster
from dlmini.grade.runner.process import Runners
from dlmini.grade.submissions.collect import collect
from dlmini.grade.verdict import INFRA, PASSED


def test_thirty_hand_ins_of_all_kinds_and_two_absentees_are_found(tmp_path):
    wishes = make_class(tmp_path / "class", jobs=1)
    found = people(collect(tmp_path / "class", lesson.name, lesson.tasks()), read_roster(wishes.roster))
    assert len(hand_ins()) == 30
    assert sorted(p.name for p in found) == sorted(NAMES)
    assert Counter(len(p.attempts) for p in found) == {1: 29, 2: 1, 0: 2}
    assert all(p.student for p in found)
    assert sum(p.handed_in()[-1].source is None for p in found) == 2 + 5  # absent; empty, bomb, link, paper, broken
    with pytest.raises(ValueError, match="there already"):
        make_class(tmp_path / "class", jobs=1)


def test_right_answers_get_all_points_and_others_do_not(sandbox):
    with Runners(sandbox, lesson.limits) as runners:
        for text, full in [*((t, True) for t in RIGHT), *((t, False) for t in NEARLY.values())]:
            examiner = Examiner(lesson, text, runners)
            statuses = {examiner.examine(test, seed=1).status for test in lesson.tests}
            assert (statuses == {PASSED}) == full, text
            assert INFRA not in statuses


@pytest.mark.slow
def test_the_class_is_graded_and_nobody_costs_anybody_anything(tmp_path, sandbox):
    wishes = make_class(tmp_path / "class", jobs=2)
    found = {g.name: g for g in grade_class(lesson, [tmp_path / "class"], tmp_path / "out", sandbox, wishes)}
    right = [found[name] for name in NAMES[: len(RIGHT) + 3]]
    assert all(g.raw == lesson.points for g in right)
    assert [g.score for g in right[:8]] == [10, 10, 10, 10, 10, 10, 9, 5]
    nearly = [found[name] for name in NAMES[len(right) : len(right) + len(NEARLY)]]
    assert all(g.raw < lesson.points for g in nearly)
    hostile = [found[name] for name in NAMES[len(right) + len(NEARLY) :][: len(HOSTILE)]]
    assert all(g.raw <= 5 for g in hostile)
    assert all(g.complete for g in found.values())
    assert (tmp_path / "out" / "index.html").is_file()
