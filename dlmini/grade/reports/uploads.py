"""Tables to be uploaded: marks and comments under the ids by which Moodle, Canvas and Gradescope know students.

Moodle      the offline grading worksheet: Identifier (Participant 17), ..., Grade, Maximum Grade, Feedback comments
Canvas      the gradebook: Student, ID, SIS User ID, SIS Login ID, Section, and a column named as the assignment; if
            the gradebook that is the roster has one of the lesson's name, 00 Meet the lab (987), that is it
Gradescope  as its own export of grades: Name, SID, Email, Total Score, Max Points (results themselves: gradescope/)
A roster that was exported there comes back with the columns it had.
"""

from __future__ import annotations

import re

from dlmini.grade.gradebook.roster import plain, value
from dlmini.grade.gradebook.tables import csv_text
from dlmini.grade.lesson import Lesson
from dlmini.grade.verdict import Graded

MOODLE = ["Identifier", "Full name", "Email address", "Grade", "Maximum Grade", "Feedback comments"]
CANVAS = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
GRADESCOPE = ["Name", "SID", "Email", "Total Score", "Max Points"]


def uploads(lesson: Lesson, class_: list[Graded]) -> dict[str, str]:
    """{file: text} for each system that anybody has an id of."""
    rows = {"moodle": [], "canvas": [], "gradescope": []}
    for graded in class_:
        for system, made in (("moodle", moodle), ("canvas", canvas), ("gradescope", gradescope)):
            rows[system] += [found] if (found := made(lesson, graded)) else []
    columns = {"moodle": heads(class_, "Identifier") or MOODLE, "gradescope": GRADESCOPE}
    columns["moodle"] = [*columns["moodle"], *(c for c in ("Grade", "Feedback comments") if c not in columns["moodle"])]
    columns["canvas"] = [*CANVAS, assignment(lesson, class_)]
    rows["canvas"] = [{**row, assignment(lesson, class_): row[lesson.name]} for row in rows["canvas"]]
    return {f"{system}.csv": csv_text(columns[system], found) for system, found in rows.items() if found}


def heads(class_: list[Graded], column: str) -> list[str]:
    """The columns of the roster, if it has this one."""
    rows = [g.person.student.row for g in class_ if g.person.student]
    return [str(name) for name in rows[0] if name is not None] if rows and column in rows[0] else []


def assignment(lesson: Lesson, class_: list[Graded]) -> str:
    """What Canvas calls the lesson: the column of the roster with its name and a number behind. Else a new one."""
    named = [
        name for name in heads(class_, "SIS Login ID") if plain(re.sub(r" \(\d+\)$", "", name)) == plain(lesson.name)
    ]
    return named[0] if len(named) == 1 else lesson.name


def own(graded: Graded, system: str) -> str:
    """The id under which an export of this system had the hand-in."""
    return next((a.id for a in graded.person.attempts if a.system == system and a.id), "")


def score(graded: Graded) -> str:
    return f"{graded.score:g}" if graded.complete else ""


def moodle(lesson: Lesson, graded: Graded) -> dict:
    row = graded.person.student.row if graded.person.student else {}
    number = value(row, "participant") or (f"Participant {own(graded, 'moodle')}" if own(graded, "moodle") else "")
    said = {"Identifier": number, "Grade": score(graded), "Feedback comments": remark(graded)}
    more = {"Full name": graded.name, "Email address": value(row, "email"), "Maximum Grade": f"{lesson.points:g}"}
    return {**more, **row, **said} if number else {}


def canvas(lesson: Lesson, graded: Graded) -> dict:
    row = graded.person.student.row if graded.person.student else {}
    number = row.get("ID", "") if "SIS User ID" in row else own(graded, "canvas")
    return {"Student": graded.name, **row, "ID": number, lesson.name: score(graded)} if number else {}


def gradescope(lesson: Lesson, graded: Graded) -> dict:
    student = graded.person.student
    number = own(graded, "gradescope") or (student.row.get("SID", "") if student else "")
    email = student.email if student else ""
    found = {"Name": graded.name, "SID": number, "Email": email, "Max Points": f"{lesson.points:g}"}
    return {**found, "Total Score": score(graded)} if number else {}


def remark(graded: Graded) -> str:
    """What is said beside a mark: by hand, and why there was nothing to grade."""
    late = f"Late: {graded.late:.0%} less." if graded.late else ""
    return " ".join(filter(None, (graded.mark.comment, late, graded.submission.problem)))
