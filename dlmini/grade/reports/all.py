"""All reports of a grading run, in their folder."""

from __future__ import annotations

from pathlib import Path

from dlmini.grade.lesson import Lesson
from dlmini.grade.reports import class_page, gradescope, junit, pages, summary, table
from dlmini.grade.reports.atomic import write
from dlmini.grade.reports.uploads import uploads
from dlmini.grade.submissions.similarity import Pair, similar
from dlmini.grade.verdict import Graded


def write_all(
    out: Path,
    lesson: Lesson,
    class_: list[Graded],
    sandbox,
    wishes=None,
    stray: list[str] = (),
    held: str = "",
    doubts: list[str] = (),
) -> None:
    """index.html, summary.svg, grades.csv, tests.csv, junit.xml, uploads/; and per student

    students/NAME.html, for the student: without hidden tests;
    grader/NAME.html, for who grades: with them;
    gradescope/NAME.json.
    doubts: sentences for who grades, on the page of the class.
    """
    deadline = wishes.deadline if wishes else None
    for graded in class_:
        slug = graded.person.slug
        write(out / "students" / f"{slug}.html", pages.for_student(lesson, graded))
        write(out / "grader" / f"{slug}.html", pages.for_grader(lesson, graded))
        write(out / "gradescope" / f"{slug}.json", gradescope.text(graded))
    for name, text in uploads(lesson, class_).items():
        write(out / "uploads" / name, text)
    write(out / "grades.csv", table.grades(lesson, class_, deadline))
    write(out / "tests.csv", table.tests(lesson, class_))
    write(out / "junit.xml", junit.text(lesson, class_))
    figure = summary.figure(lesson, class_, deadline)
    write(out / "summary.svg", figure)
    pairs = alike(class_, wishes.given if wishes else "")
    write(out / "index.html", class_page.page_of(lesson, class_, pairs, sandbox, figure, stray, held, doubts))


def alike(class_: list[Graded], given: str) -> list[Pair]:
    """Pairs of students whose programs look alike, by the names that all other tables have."""
    names = {graded.submission.name: graded.name for graded in class_}
    pairs = similar([graded.submission for graded in class_], given)
    return [Pair(names[pair.one], names[pair.other], pair.share) for pair in pairs]
