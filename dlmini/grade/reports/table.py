"""grades.csv, in the column order of nbgrader's exporter (nbgrader/plugins/export.py); tests.csv, a column per test."""

from __future__ import annotations

from dlmini.grade.gradebook.deadline import Deadline, clock
from dlmini.grade.gradebook.people import told
from dlmini.grade.gradebook.roster import value
from dlmini.grade.gradebook.tables import csv_text
from dlmini.grade.lesson import Lesson
from dlmini.grade.verdict import Graded

COLUMNS = [
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
]


def grades(lesson: Lesson, class_: list[Graded], deadline: Deadline | None = None) -> str:
    """A row per student. A score that is not final is no grade, and stays empty."""
    return csv_text(COLUMNS, [row(lesson, graded, deadline) for graded in class_])


def row(lesson: Lesson, graded: Graded, deadline: Deadline | None) -> dict:
    person, final = graded.person, graded.complete
    student = person.student
    found = {"assignment": lesson.name, "max_score": f"{lesson.points:g}", "late_submission_penalty": 0}
    found |= {"timestamp": "" if graded.absent else clock(told(graded.submission, person))}
    found |= {"student_id": person.id or graded.name, "last_name": graded.name if person.id else ""}
    if student:
        parts = value(student.row, "first"), value(student.row, "last")
        found |= {"email": student.email, "first_name": parts[0], "last_name": parts[1] or found["last_name"]}
    if deadline:
        own = student.due if student else None
        found |= {"duedate": clock(deadline.due if own is None else own)}
    if final:
        found |= {"raw_score": f"{graded.raw:g}", "score": f"{graded.score:g}"}
        found |= {"late_submission_penalty": f"{graded.penalty:g}"}
    return found


def tests(lesson: Lesson, class_: list[Graded]) -> str:
    names = [f"{t.task}.{t.name}" for t in lesson.tests]
    rows = [
        {"student": g.name, "student_id": g.person.id, "score": f"{g.score:g}", "by_hand": g.mark.comment}
        | {f"{v.task}.{v.test}": v.status for v in g.verdicts}
        for g in class_
    ]
    return csv_text(["student", "student_id", "score", *names, "by_hand"], rows)
