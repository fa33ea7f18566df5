"""Beside every exercise of a lesson stand the minutes that it takes and how hard it is."""

import re
from pathlib import Path

import pytest

COURSE = Path(__file__).parents[2] / "course"
LESSONS = sorted(COURSE.glob("0?_*.md")) + sorted(COURSE.glob("1[01]_*.md"))
CHECK = re.compile(r'(?P<above>[^\n]*)\n\n```\{code-cell\} ipython3\ncheck\("(?P<name>[\w.]+)"\)\n```')


@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_every_check_says_minutes_and_difficulty(file):
    found = CHECK.findall(file.read_text(encoding="utf-8"))
    assert found
    for above, name in found:
        assert re.fullmatch(r"\*About \d+ minutes · (●○○|●●○|●●●)\*", above), name


@pytest.mark.parametrize("file", LESSONS, ids=lambda file: file.stem)
def test_exercises_fit_beside_a_lesson(file):
    """Each lesson's exercises together take an hour at most."""
    minutes = map(int, re.findall(r"\*About (\d+) minutes · ", file.read_text(encoding="utf-8")))
    assert sum(minutes) <= 60
