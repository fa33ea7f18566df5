"""The syllabus, the index and the lessons say the same of what each lesson needs, and every path has all of it."""

import re
from pathlib import Path

import pytest

from dlmini.course.lessons import NAME

COURSE = Path(__file__).parents[2] / "course"
LESSONS = {file.stem[:2]: file for file in sorted(COURSE.glob("*.md")) if NAME.fullmatch(file.stem)}
NUMBER = re.compile(r"\b\d\d\b")


def rows(page: str, columns: int) -> dict[str, list[str]]:
    """The lines of a page's table that begin with a lesson's number."""
    lines = (COURSE / page).read_text(encoding="utf-8").splitlines()
    found = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if re.match(r"\| \d\d \|", line))
    return {cells[0]: cells for cells in found if len(cells) == columns}


SYLLABUS, INDEX = rows("SYLLABUS.md", 7), rows("index.md", 3)
NEEDS = {number: set(NUMBER.findall(cells[2])) for number, cells in INDEX.items()}


def test_syllabus_and_index_have_every_lesson():
    assert set(SYLLABUS) == set(INDEX) == set(LESSONS)


@pytest.mark.parametrize("number", LESSONS)
def test_what_a_lesson_needs_comes_before_it_and_is_said_alike_in_three_places(number):
    assert set(NUMBER.findall(SYLLABUS[number][4])) == NEEDS[number]
    assert all(other < number for other in NEEDS[number])
    head = LESSONS[number].read_text(encoding="utf-8").partition("```{code-cell}")[0]
    said = head.partition("Plan for")[2]
    assert set(re.findall(r"\((\d\d)_\w+\.md\)", said)) == NEEDS[number]


def paths() -> dict[str, set[str]]:
    table = (COURSE / "SYLLABUS.md").read_text(encoding="utf-8").partition("## Paths")[2].partition("\n## ")[0]
    return {
        name: set(NUMBER.findall(lessons)) for name, lessons in re.findall(r"\| \*\*(.+?)\*\*[^|]*\|([^|]+)\|", table)
    }


@pytest.mark.parametrize("name", paths())
def test_a_path_has_all_that_its_lessons_need(name):
    path = paths()[name]
    assert path
    assert set().union(*(NEEDS[number] for number in path)) <= path


def test_one_term_is_the_whole_course():
    assert paths()["one term"] == set(LESSONS)


@pytest.mark.parametrize("number", LESSONS)
def test_every_notebook_s_minutes_stand_in_the_syllabus(number):
    """How many they may be is for `benchmarks.notebooks` to say."""
    assert float(SYLLABUS[number][5]) > 0


WORDS = 150  # a minute, as the syllabus says


def minutes_alone(text: str, runs: float) -> float:
    """Reading, writing and running: what the syllabus calls *alone*, not yet rounded."""
    prose = re.sub(r"^```.*?^```$", "", text.partition("\n## Further reading")[0], flags=re.S | re.M)
    exercises = map(int, re.findall(r"^\*About (\d+) minutes · ", text, re.M))
    return len(prose.split()) / WORDS + sum(exercises) + runs


def test_reading_writing_and_running_are_added_up():
    cell, exercise = "```{code-cell} ipython3\nnot read\n```\n", "*About 10 minutes · ●○○*\n"
    text = "word " * (2 * WORDS - 5) + "\n\n" + exercise + cell + "\n## Further reading\n\nnot read either"
    assert minutes_alone(text, runs=0.5) == 2 + 10 + 0.5


@pytest.mark.parametrize("number", LESSONS)
def test_the_minutes_of_a_student_alone_are_what_text_and_exercises_add_up_to(number):
    """Said to five minutes, so that a sentence more or less changes nothing."""
    cells = SYLLABUS[number]
    said, reckoned = int(cells[6]), minutes_alone(LESSONS[number].read_text(encoding="utf-8"), float(cells[5]))
    assert said % 5 == 0
    assert abs(said - reckoned) < 5, f"write {5 * round(reckoned / 5)} in the last column of lesson {number}"
