"""Every lesson: the solution gets all points, the stub none, and grading finds each mutant out.

Mistakes that a lesson's text names are public: `check` finds them, too, and calls them by their name.
"""

from collections import Counter

import pytest
from grade_course import EVERY_MUTANT, LESSONS, PUBLIC_MUTANTS, solution, stub

from dlmini.grade.examine import Examiner
from dlmini.grade.lesson import find_lesson
from dlmini.grade.verdict import NOT_DONE, PASSED


@pytest.mark.parametrize("name", LESSONS)
def test_the_solution_gets_all_points(name, benches):
    lesson = find_lesson(name)
    examiner = Examiner(lesson, solution(name), benches(lesson))
    verdicts = [examiner.examine(test, seed=1) for test in lesson.tests]
    assert [v for v in verdicts if v.status != PASSED] == []
    assert sum(v.score for v in verdicts) == lesson.points


@pytest.mark.parametrize("name", LESSONS)
def test_the_untouched_exercise_gets_nothing_and_is_not_called_wrong(name, benches):
    lesson = find_lesson(name)
    examiner = Examiner(lesson, stub(name), benches(lesson))
    verdicts = [examiner.examine(test, seed=1) for test in lesson.tests]
    assert {v.status for v in verdicts} == {NOT_DONE}
    assert sum(v.score for v in verdicts) == 0


def called(mutants):
    return pytest.mark.parametrize(
        ("name", "task", "wrong", "source", "says"), mutants, ids=[f"{n[:2]}.{t}: {w}" for n, t, w, *_ in mutants]
    )


@called([mutant for mutant in EVERY_MUTANT if not mutant[-1]])
def test_a_mutant_is_killed_by_a_hidden_test(name, task, wrong, source, says, benches):
    lesson = find_lesson(name)
    examiner = Examiner(lesson, source, benches(lesson))
    hidden = [test for test in lesson.of(task) if test.visibility == "hidden"]
    verdicts = [examiner.examine(test, seed=2) for test in hidden]
    assert any(v.status != PASSED for v in verdicts), f"{wrong}: passes all hidden tests of {task}"
    assert all(v.detail for v in verdicts if v.status != PASSED)


@called(PUBLIC_MUTANTS)
def test_a_public_mistake_is_caught_by_check_and_called_by_its_name(name, task, wrong, source, says, benches):
    lesson = find_lesson(name)
    examiner = Examiner(lesson, source, benches(lesson))
    public = [test for test in lesson.of(task) if test.visibility == "public"]
    for seed in (0, 1):
        verdicts = [examiner.examine(test, seed) for test in public]
        assert any(v.status != PASSED for v in verdicts), f"{wrong}: check stays green"
        assert any(says in v.detail for v in verdicts), [v.detail for v in verdicts]


@pytest.mark.parametrize("name", LESSONS)
def test_every_function_has_public_and_hidden_tests_and_enough_mutants(name):
    lesson = find_lesson(name)
    killed = Counter(task for n, task, *_ in EVERY_MUTANT if n == name)
    for task in lesson.tasks():
        assert {t.visibility for t in lesson.of(task)} == {"public", "hidden"}
        assert 3 <= killed[task] <= 18, f"{task} has {killed[task]} mutants"
    assert len({t.name for t in lesson.tests}) == len(lesson.tests)
