"""Wherever a lesson says "Before you run it" it asks for a guess, and shows it beside what its cells have measured."""

import ast
import re
from pathlib import Path

import pytest

from dlmini.course import guesses

LESSONS = sorted((Path(__file__).parents[2] / "course").glob("[0-9][0-9]_*.md"))
CELL = re.compile(r"^```\{code-cell\} ipython3\n(.*?)^```$", re.S | re.M)


def calls(text, name):
    """The calls of a function in a lesson's cells, in their order: where, first argument, and the call."""
    for cell in CELL.finditer(text):
        for node in ast.walk(ast.parse(cell[1])):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
                yield cell.start(), ast.literal_eval(node.args[0]), node


@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_every_guess_of_a_lesson_has_its_measurement(file):
    text = file.read_text(encoding="utf-8")
    asked, shown = ({name: at for at, name, _ in calls(text, verb)} for verb in ("guess", "see"))
    assert len(asked) == len(list(calls(text, "guess")))  # names are unique
    assert len(shown) == len(list(calls(text, "see")))
    assert list(asked) == list(shown)
    assert all(asked[name] < shown[name] for name in asked)
    assert all(name.startswith(file.stem[:2] + ".") for name in asked)
    assert guesses.asked_in(text) == list(asked)  # what the index counts


@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_every_guess_of_a_lesson_is_a_question_that_can_be_asked(file):
    for _, name, node in calls(file.read_text(encoding="utf-8"), "guess"):
        made = guesses.question(
            name, ast.literal_eval(node.args[1]), **{k.arg: ast.literal_eval(k.value) for k in node.keywords}
        )
        assert made.text.endswith("?"), name


@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_what_is_measured_is_not_typed_in(file):
    for _, name, node in calls(file.read_text(encoding="utf-8"), "see"):
        assert any(isinstance(part, ast.Name) for part in ast.walk(node.args[1])), name


@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_wherever_a_lesson_says_before_you_run_it_there_is_a_place_for_the_guess(file):
    text = file.read_text(encoding="utf-8")
    places = re.findall(r"^> \*\*Before you run it\.\*\*(?:[^\n]*\n)(?:>[^\n]*\n)*\n(.*\n.*)", text, re.M)
    assert places
    assert len(places) == len(list(calls(text, "guess")))
    assert all(place.startswith("```{code-cell} ipython3\nguess(") for place in places)
