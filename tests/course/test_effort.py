"""Beside every exercise of a lesson stand the minutes that it takes and how hard it is."""

import re
from pathlib import Path

import pytest

COURSE = Path(__file__).parents[2] / "course"
LESSONS = sorted(COURSE.glob("[0-9][0-9]_*.md"))
CHECK = re.compile(r'(?P<above>[^\n]*)\n\n```\{code-cell\} ipython3\ncheck\("(?P<name>[\w.]+)"\)\n```')


@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_every_check_says_minutes_and_difficulty(file):
    found = CHECK.findall(file.read_text(encoding="utf-8"))
    assert found
    for above, name in found:
        assert re.fullmatch(r"\*About \d+ minutes · (●○○|●●○|●●●)\*", above), name


@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_exercises_fit_beside_a_lesson(file):
    """Each lesson's exercises together take an hour at most; a quarter more where the lesson is planned for 90."""
    text = file.read_text(encoding="utf-8")
    minutes = map(int, re.findall(r"\*About (\d+) minutes · ", text))
    assert sum(minutes) <= (75 if "of 90 minutes" in text or "Plan for 90 minutes" in text else 60)
