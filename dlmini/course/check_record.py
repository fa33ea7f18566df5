"""What a student's own checks have said last, kept in the course folder and shown by the index (progress.py).

    .dlmini/checks/04.ring_allreduce        passed

One small file per function, so that notebook and terminal at once never undo each other's, and a damaged one costs a
single verdict. It is for the student's eyes only: grading never reads it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from dlmini.course.work import make_folder, private, work_folder
from dlmini.files import DAMAGED, write_text

MARKS = {"passed": "✔", "failed": "✘", "not done yet": "○"}
TASK = re.compile(r"\d\d\.\w{1,99}")
EARLIER = "progress.json"  # all in one file, as earlier versions kept them


def place(folder: Path) -> Path:
    return folder / ".dlmini" / "checks"


def record(task: str, verdict: str, folder: Path | None = None) -> None:
    """Keep what a check has said."""
    if verdict not in MARKS:
        raise ValueError(f"a check says one of {', '.join(MARKS)}, not {verdict!r}")
    if not TASK.fullmatch(task):
        raise ValueError(f"a check is kept by lesson and function, such as 04.ring_allreduce, not {task!r}")
    folder = folder or work_folder()
    private(folder)
    make_folder(place(folder))
    write_text(place(folder) / task, verdict + "\n")


def said(folder: Path) -> dict[str, str]:
    """The last verdict of every check."""
    return read(folder)[0]


def read(folder: Path) -> tuple[dict[str, str], list[Path]]:
    """The last verdict of every check, and the files that hold none though they should."""
    found, damaged = earlier(folder)
    for file in files(folder):
        try:
            found[file.name] = known(file.read_text(encoding="utf-8").strip())
        except DAMAGED:
            damaged.append(file)
    return found, damaged


def files(folder: Path) -> list[Path]:
    """One per function; what else somebody puts there is none of them."""
    try:
        return sorted(file for file in place(folder).iterdir() if TASK.fullmatch(file.name))
    except OSError:
        return []


def known(verdict: str) -> str:
    if verdict not in MARKS:
        raise ValueError(f"{verdict!r} is nothing that a check says")
    return verdict


def earlier(folder: Path) -> tuple[dict[str, str], list[Path]]:
    file = folder / ".dlmini" / EARLIER
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {task: known(verdict) for task, verdict in found.items()}, []
    except FileNotFoundError:
        return {}, []
    except (*DAMAGED, RecursionError):
        return {}, [file]
