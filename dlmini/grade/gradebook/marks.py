"""Marks and comments by hand: marks.csv in the folder of grades, a row per student, to be filled in by a person.

    student,points,comment
    Anna Li,+1,a fine proof in the comments
    Bo M,7,graded by hand: see my mail
    Cy D,,please come and see me
`+1` and `-2` are added to what the tests gave, a plain number takes its place, nothing leaves it. The file is made when
there is none, and rows are added for who is new; what is in it is never changed, so it survives grading again. Commas,
semicolons or tabs may part the cells. A mark that cannot be read as one thing is refused, and one of nobody is named.
"""

from __future__ import annotations

import csv
import io
import math
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from dlmini.files import write_bytes
from dlmini.grade.gradebook.tables import read_rows, safe, separator_of, unsafe

COLUMNS = ["student", "points", "comment"]
SIGN = "\ufeff".encode()  # by which spreadsheets know UTF-8


@dataclass(frozen=True)
class Mark:
    """What a person has decided: to add so many points, or to give so many; and said."""

    added: float = 0.0
    given: float | None = None
    comment: str = ""

    def of(self, score: float) -> float:
        """The score with it: never less than nothing."""
        return max(0.0, score + self.added if self.given is None else self.given)


def read_marks(file: Path) -> dict[str, Mark]:
    """By student, as `same` writes names; empty where there is no file."""
    if not file.exists():
        return {}
    try:
        text = file.read_bytes().decode("utf-8-sig")
        rows = read_rows(text, separator_of(text))
    except ValueError as error:
        raise ValueError(f"{file} is no CSV in UTF-8 ({error}); mend it, or move it away") from error
    if rows and not set(COLUMNS) <= set(rows[0]):
        raise ValueError(f"{file} must have the columns {', '.join(COLUMNS)}; it has {', '.join(map(str, rows[0]))}")
    found = {}
    for number, row in enumerate(rows, 2):
        name, said = same(unsafe(row["student"] or "")), mark(row, f"{file}, line {number}")
        before = found.get(name, Mark())
        if Mark() not in (before, said) and before != said:
            raise ValueError(f"{file}, line {number}: {name} has another mark above; leave one of them")
        found[name] = before if said == Mark() else said
    return found


def same(name: str) -> str:
    """However an editor composed its letters, and whatever spaces it left."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def mark(row: dict, where: str) -> Mark:
    if any(row.get(None) or ()):
        raise ValueError(f"{where}: more cells than columns; write 7.5, and put a comment with commas in quotes")
    if row["points"] is None and set(row["student"] or "") & set(",;\t"):
        raise ValueError(
            f"{where}: its cells are not parted as those of the first line; use the same sign in all lines"
        )
    text, comment = (row["points"] or "").strip().removeprefix("'").replace(",", "."), (row["comment"] or "").strip()
    if not text:
        return Mark(comment=comment)
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{where}: points are {text!r}; write +1, -2, 7, or nothing")
    return Mark(number, None, comment) if text[0] in "+-" else Mark(0.0, number, comment)


def keep_rows(file: Path, names: list[str]) -> None:
    """Add a row for who has none, at the end; all that is there stays as it is, to the byte."""
    known = read_marks(file)
    missing = [name for name in names if same(name) not in known]
    before = file.read_bytes() if file.exists() else b""
    if not missing and before:
        return
    if not before.removeprefix(SIGN).strip():
        before = SIGN + ",".join(COLUMNS).encode() + b"\n"
    out = io.StringIO()
    writer = csv.writer(out, delimiter=separator_of(before.decode("utf-8-sig")), lineterminator="\n")
    writer.writerows([safe(name), "", ""] for name in missing)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(file, before + b"\n" * (not before.endswith(b"\n")) + out.getvalue().encode())
