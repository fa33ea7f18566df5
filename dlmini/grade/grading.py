"""`grade_folder`: everything between a folder of submissions and a folder of reports."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dlmini.grade.batch import Graded, grade_all
from dlmini.grade.journal import Journal, terms_of
from dlmini.grade.lesson import Lesson
from dlmini.grade.reports.all import write_all
from dlmini.grade.submissions import collect


def grade_folder(
    lesson: Lesson,
    root: Path,
    out: Path,
    sandbox,
    seed: int = 0,
    jobs: int = 1,
    resume: bool = False,
    given: str = "",
    begun: Callable[[int], Callable] | None = None,
) -> list[Graded]:
    """Grade all submissions under `root` into `out`. `begun(tests)` is told how many tests come; what it returns, each.

    given: the exercise as handed out, which does not count as similarity.
    """
    submissions = collect(root, lesson.name)
    told = begun(len(submissions) * len(lesson.tests)) if begun else None
    journal = Journal(out / "journal.jsonl", terms_of(lesson, seed), resume)
    try:
        class_ = grade_all(lesson, submissions, sandbox, seed, journal, jobs, told)
    finally:
        journal.close()
    write_all(out, lesson, class_, sandbox, given)
    return class_
