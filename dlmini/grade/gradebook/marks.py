"""Marks and comments by hand: marks.csv in the folder of grades, a row per student, to be filled in by a person.

    student,points,comment
    Anna Li,+1,a fine proof in the comments
    Bo M,7,graded by hand: see my mail
    Cy D,,please come and see me
`+1` and `-2` are added to what the tests gave, a plain number takes its place, nothing leaves it. The file is made when
there is none, and rows are added for who is new; what is in it is never changed, so it survives grading again.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

from dlmini.files import write_text
from dlmini.grade.gradebook.tables import safe, unsafe

COLUMNS = ["student", "points", "comment"]


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
    """By student; empty where there is no file."""
    if not file.exists():
        return {}
    try:
        rows = list(csv.DictReader(io.StringIO(file.read_bytes().decode("utf-8-sig"))))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{file} is no CSV in UTF-8 ({error}); mend it, or move it away") from error
    if rows and not set(COLUMNS) <= set(rows[0]):
        raise ValueError(f"{file} must have the columns {', '.join(COLUMNS)}; it has {', '.join(map(str, rows[0]))}")
    return {unsafe(row["student"] or ""): mark(row, f"{file}, line {n}") for n, row in enumerate(rows, 2)}


def mark(row: dict, where: str) -> Mark:
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
    missing = [name for name in names if name not in read_marks(file)]
    if not missing and file.exists():
        return
    before = file.read_bytes().decode("utf-8-sig") if file.exists() else ",".join(COLUMNS) + "\n"
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([safe(name), "", ""] for name in missing)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, before + ("\n" if before and not before.endswith("\n") else "") + out.getvalue())
