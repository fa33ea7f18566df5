"""The roster of a course: a CSV with a row per student, written by a person, or exported by Moodle, Canvas, Gradescope.

Columns are found by their usual names, in any order: a name (or first and last name), an id, an email. Two more are
understood: `due`, a deadline of one's own, and `submitted`, when the hand-in came. All others are kept, so that what
goes back to Moodle or Canvas has the columns that came from there.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path

from dlmini.grade.gradebook.tables import read_rows, separator_of
from dlmini.grade.reading.exports import seconds
from dlmini.grade.reading.names import shown
from dlmini.grade.reading.notebook_cells import decoded

COLUMNS = {  # what a column may be called, in small letters
    "name": ("name", "full name", "student", "student name", "полное имя", "фио"),
    "first": ("first name", "first_name", "firstname", "given name", "имя"),
    "last": ("last name", "last_name", "surname", "family name", "фамилия"),
    "id": ("student_id", "student id", "sid", "id number", "sis user id", "id", "idnumber"),
    "email": ("email", "email address", "e-mail", "sis login id", "login"),
    "participant": ("identifier",),
    "due": ("due", "duedate", "due date"),
    "role": ("role", "roles"),
    "submitted": ("submitted", "last modified (submission)", "timestamp"),
}
TESTER = "Student, Test"  # whom Canvas makes for its teachers
STAFF = ("instructor", "teacher", "non-editing teacher", "ta", "teaching assistant", "reader", "observer", "designer")


@dataclass(frozen=True)
class Student:
    """One row. due, submitted: in seconds, if they are given."""

    name: str
    id: str = ""
    email: str = ""
    due: float | None = None
    submitted: float | None = None
    row: dict = field(default_factory=dict, compare=False, repr=False)

    def known_as(self) -> set[str]:
        """Under what hand-ins of this student may come. Numbers that only one system knows bear its name."""
        words = plain(self.name).split()
        names = {"".join(order) for order in permutations(words)} if 1 < len(words) < 5 else {"".join(words)}
        participant = re.sub(r"\D", "", value(self.row, "participant"))
        canvas = str(self.row.get("ID") or "").strip()
        numbers = {f"moodle {participant}"} if participant else set()
        numbers |= {f"canvas {canvas}"} if canvas else set()
        own = {self.id, value(self.row, "id"), canvas, participant, self.email, self.email.partition("@")[0]}
        return names | numbers | {plain(word).replace(" ", "") for word in own if word.strip()}


def read_roster(file: Path) -> list[Student]:
    """All students, in the order of the file. Who is in it twice, with one id or email, is one."""
    try:
        text = decoded(file.read_bytes())
    except UnicodeError as error:
        raise ValueError(f"{file} is no text in UTF-8; save it as a CSV in UTF-8") from error
    except OSError as error:
        raise ValueError(f"the roster {file} cannot be read: {error.strerror}") from error
    try:
        rows = read_rows(text, separator_of(text))
    except ValueError as error:
        raise ValueError(f"{file} is no CSV ({error})") from error
    found = [student(row, number, file) for number, row in enumerate(rows, 2) if is_student(row)]
    if not found:
        raise ValueError(
            f"{file} names nobody; it needs a line of column names (name, id, email) and a row per student"
        )
    return once(found)


def once(students: list[Student]) -> list[Student]:
    """Without rows of who came before. Namesakes without id and email may be two, and stay."""
    found = {}
    for place, one in enumerate(students):
        number = one.id or one.email
        found.setdefault((plain(one.name), number) if number else place, one)
    return list(found.values())


def student(row: dict, number: int, file: Path) -> Student:
    parts = [value(row, "first"), value(row, "last")]
    name = value(row, "name") or " ".join(part for part in parts if part)
    person, email = value(row, "id"), value(row, "email")
    if not (name or person or email):
        raise ValueError(f"{file}, line {number}: no name, id or email; the columns are {', '.join(map(str, row))}")
    times = [when(value(row, column), f"{file}, line {number}: {column}") for column in ("due", "submitted")]
    return Student(shown(name or person or email), shown(person) if person else "", email, *times, row)


def when(text: str, what: str) -> float | None:
    """A time; None where there is none. Moodle writes it in words, which are left alone."""
    if text in ("", "-") or (found := seconds(text)) is None:
        if re.match(r"\d{4}-", text):
            raise ValueError(f"{what} is {text!r}; it must be a time such as 2026-11-20 23:59")
        return None
    return found


def value(row: dict, what: str) -> str:
    """What a row has in the column of this kind, under any of its names."""
    small = {str(name).strip().lower(): name for name in row if name is not None}
    names = [small[name] for name in COLUMNS[what] if name in small]
    return next((str(row[name]).strip() for name in names if row[name]), "")


def is_student(row: dict) -> bool:
    """Not an empty line; of Canvas neither the lines without a student (Points Possible, Manual Posting) nor its test
    student; and nobody who teaches.
    """
    cells = [str(cell).strip() for name, cell in row.items() if name is not None and cell]
    if not any(cells) or "points possible" in (cell.lower() for cell in cells):
        return False
    if {"Student", "ID"} <= row.keys():
        name = (row["Student"] or "").strip()
        if not name and not (row["ID"] or "").strip():
            return False
        if name == TESTER and not (row.get("SIS User ID") or "").strip():
            return False
    return value(row, "role").lower() not in STAFF


def plain(name: str) -> str:
    """Without accents, punctuation and capitals: Ёлкина, Анна -> елкина анна."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return " ".join(re.sub(r"[^\w@.+-]+|_", " ", "".join(c for c in letters if not unicodedata.combining(c))).split())
