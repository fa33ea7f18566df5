"""A public mistake on a student's card: its name stands there, in the notebook and in the terminal.

All public mistakes stand in `mutants/`; here one of each function goes the whole way, through `check` and a file.
"""

from html import escape

import pytest
from grade_course import PUBLIC_MUTANTS, solution

from dlmini.grade.check import check, cool

FIRST = {(name, task): (source, says) for name, task, _, source, says in reversed(PUBLIC_MUTANTS)}


@pytest.fixture(scope="module", autouse=True)
def _cool():
    yield
    cool()


def cards(lesson: str, task: str, text: str, folder) -> tuple[str, str]:
    (folder / f"{lesson}.py").write_text(text, encoding="utf-8")
    report = check(f"{lesson[:2]}.{task}", folder=folder)
    return repr(report), report._repr_html_()


@pytest.mark.parametrize(("lesson", "task"), FIRST, ids=[f"{name[:2]}.{task}" for name, task in FIRST])
def test_a_public_mistake_is_called_by_its_name_on_the_card(lesson, task, tmp_path):
    source, says = FIRST[lesson, task]
    for card, words in zip(cards(lesson, task, source, tmp_path), (says, escape(says)), strict=True):
        assert words in card
    for card, words in zip(cards(lesson, task, solution(lesson), tmp_path), (says, escape(says)), strict=True):
        assert words not in card
