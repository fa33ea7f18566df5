"""All reports of a grading run, in their folder."""

from __future__ import annotations

from pathlib import Path

from dlmini.grade.lesson import Lesson
from dlmini.grade.reports import gradescope, junit, pages, table
from dlmini.grade.reports.atomic import write
from dlmini.grade.submissions.similarity import similar
from dlmini.grade.verdict import Graded


def write_all(out: Path, lesson: Lesson, class_: list[Graded], sandbox, given: str = "") -> None:
    """grades.csv, tests.csv, junit.xml, index.html; and per student students/NAME.html and gradescope/NAME.json."""
    for graded in class_:
        slug = graded.submission.slug
        write(out / "students" / f"{slug}.html", pages.student(lesson, graded))
        write(out / "gradescope" / f"{slug}.json", gradescope.text(graded))
    pairs = similar([g.submission for g in class_], given)
    write(out / "grades.csv", table.grades(lesson, class_))
    write(out / "tests.csv", table.tests(lesson, class_))
    write(out / "junit.xml", junit.text(lesson, class_))
    write(out / "index.html", pages.class_page(lesson, class_, pairs, sandbox))
