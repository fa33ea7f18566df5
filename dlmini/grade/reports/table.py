"""grades.csv, in the column order of nbgrader's exporter (nbgrader/plugins/export.py); tests.csv, a column per test."""

from __future__ import annotations

import csv
import io

from dlmini.grade.lesson import Lesson
from dlmini.grade.verdict import Graded

COLUMNS = [
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
]


def grades(lesson: Lesson, class_: list[Graded]) -> str:
    rows = []
    for g in class_:
        score = f"{g.score:g}" if g.complete else ""  # a score that is not final is no grade
        row = {"assignment": lesson.name, "student_id": safe(g.submission.name), "raw_score": score, "score": score}
        rows.append({**row, "late_submission_penalty": 0, "max_score": f"{lesson.points:g}"})
    return _csv(COLUMNS, rows)


def tests(lesson: Lesson, class_: list[Graded]) -> str:
    names = [f"{t.task}.{t.name}" for t in lesson.tests]
    rows = [
        {"student_id": safe(g.submission.name), "score": f"{g.score:g}"}
        | {f"{v.task}.{v.test}": v.status for v in g.verdicts}
        for g in class_
    ]
    return _csv(["student_id", "score", *names], rows)


def safe(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return "'" + name if name[:1] in ("=", "+", "-", "@", "\t") else name


def _csv(columns: list[str], rows: list[dict]) -> str:
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
