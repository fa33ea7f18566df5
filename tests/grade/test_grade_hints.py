"""Hints: three for each function, read and never run, folded up under a card that has not passed."""

import re
from difflib import SequenceMatcher

import pytest
from grade_course import LESSONS, solution, stub

from dlmini.grade.check import check, cool
from dlmini.grade.hints import folded, hints
from dlmini.grade.lesson import VISIBLE, find_lesson


@pytest.mark.parametrize("name", LESSONS)
def test_every_function_of_every_exercise_has_three_hints(name):
    given = {"ring_allreduce"}  # whole already: it puts two functions of the student's together
    written = set(find_lesson(name[:2]).tasks()) - given
    assert {task: len(found) for task, found in hints(stub(name)).items()} == dict.fromkeys(written, 3)


@pytest.mark.parametrize("name", LESSONS)
def test_the_third_hint_is_not_the_answer(name):
    """It may name a function of NumPy's or of the student's, but has no piece of the solution's code in it."""
    for task, (_, _, third) in hints(solution(name)).items():
        (code,) = re.findall(rf"^def {task}\(.*?### BEGIN SOLUTION(.*?)### END SOLUTION", solution(name), re.M | re.S)
        hint, code = ("".join(text.split()) for text in (third, code))
        shared = SequenceMatcher(None, hint, code, autojunk=False).find_longest_match()
        piece = hint[shared.a : shared.a + shared.size]
        assert shared.size < 10 or re.fullmatch(r"[\w.]+", piece), f"{task}: {piece}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def f(:",
        "HINTS = 3",
        "HINTS = {'f': open('x')}",
        "HINTS = {'f': 1}",
        "HINTS: dict = {}",
        "x = {'f': ('a',)}",
    ],
)
def test_a_file_without_a_readable_table_has_no_hints(text):
    assert hints(text) == {}


def test_the_last_table_counts():
    assert hints("HINTS = {'f': ('old',)}\nHINTS = {'f': ('new', 'er')}") == {"f": ("new", "er")}


def test_a_table_is_read_and_not_run(tmp_path):
    made = tmp_path / "made"
    assert hints(f"HINTS = {{'f': (open({str(made)!r}, 'w').name,)}}") == {}
    assert not made.exists()


def test_what_a_hint_says_is_text_and_not_html():
    assert "<script>" not in folded(("<script>alert(1)</script>",))


def test_hints_wait_under_what_is_not_done_and_leave_when_it_is(tmp_path):
    file = tmp_path / "exercises" / "03_data_parallelism.py"
    file.parent.mkdir()
    file.write_text(stub("03_data_parallelism"), encoding="utf-8")
    try:
        shown = check("03.bsp_step", folder=tmp_path)._repr_html_()
        assert shown.count("<details") == 3
        file.write_text(solution("03_data_parallelism"), encoding="utf-8")
        done = check("03.bsp_step", folder=tmp_path)
        assert "<details" not in done._repr_html_()
        hidden = [test for test in find_lesson("03").tests if test.task == "bsp_step" and test.visibility != VISIBLE]
        for said in (repr(done), done._repr_html_()):
            assert f"Grading has {len(hidden)} more test" in said
        assert "Grading has" not in shown
    finally:
        cool()
