"""Runners that the tests of a module share."""

import os

import pytest

from dlmini.grade.runner.process import Runners
from dlmini.grade.sandbox.levels import choose


@pytest.fixture(scope="session")
def sandbox():
    return choose(os.environ.get("DLMINI_SANDBOX", "auto"))


@pytest.fixture(scope="module")
def benches(sandbox):
    """benches(lesson): warm runners, one set per lesson."""
    made = {}

    def bench(lesson):
        if lesson.name not in made:
            made[lesson.name] = Runners(sandbox, lesson.limits)
        return made[lesson.name]

    yield bench
    for cells in made.values():
        cells.__exit__()
