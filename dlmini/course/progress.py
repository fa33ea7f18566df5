"""What a student's own checks have said, kept in a small file of the course folder and shown by the index.

    .dlmini/progress.json        {"04.ring_allreduce": "passed", "04.tree_allreduce": "not done yet"}

It is for the student's eyes only: grading never reads it.
"""

from __future__ import annotations

import html
import json
import os
from pathlib import Path

from dlmini.course.lessons import Lesson, bare, shown
from dlmini.files import write_text

MARKS = {"passed": "✔", "failed": "✘", "not done yet": "○"}
EMPTY = "no checks yet"


def work_folder(here: Path | None = None) -> Path:
    """DLMINI_WORK, or the nearest folder upwards with `exercises/` in it, or the current one."""
    if "DLMINI_WORK" in os.environ:
        return Path(os.environ["DLMINI_WORK"])
    here = (here or Path.cwd()).resolve()
    return next((folder for folder in (here, *here.parents) if (folder / "exercises").is_dir()), here)


def file(folder: Path) -> Path:
    return folder / ".dlmini" / "progress.json"


def said(folder: Path) -> dict[str, str]:
    """The last verdict of every check."""
    try:
        found = json.loads(file(folder).read_text(encoding="utf-8"))
        return {str(task): str(verdict) for task, verdict in found.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, AttributeError) as error:
        raise ValueError(f"{file(folder)} cannot be read ({error}); delete it, and run your checks again") from error


def record(task: str, verdict: str, folder: Path | None = None) -> None:
    """Keep what a check has said."""
    if verdict not in MARKS:
        raise ValueError(f"a check says one of {', '.join(MARKS)}, not {verdict!r}")
    place = file(folder or work_folder())
    kept = said(place.parents[1]) | {task: verdict}
    place.parent.mkdir(parents=True, exist_ok=True)
    (place.parent / ".gitignore").write_text("*\n", encoding="utf-8")
    write_text(place, json.dumps(kept, indent=1, sort_keys=True))


class Progress:
    """A table in a notebook, lines in a terminal: every lesson, and what its checks have said last."""

    def __init__(self, lessons: list[Lesson], verdicts: dict[str, str]):
        self.lessons, self.verdicts = lessons, verdicts

    def of(self, lesson: Lesson) -> str:
        own = sorted((task, verdict) for task, verdict in self.verdicts.items() if task.startswith(f"{lesson.number}."))
        return ", ".join(f"{MARKS.get(verdict, '?')} {task[3:]}" for task, verdict in own) or EMPTY

    def __repr__(self) -> str:
        return "\n".join(f"{it.number}  {bare(it.title)}: {self.of(it)}" for it in self.lessons)

    def _repr_html_(self) -> str:
        rows = [(it.number, link(it), html.escape(self.of(it))) for it in self.lessons]
        cells = [("", "<b>lesson</b>", "<b>your checks</b>"), *rows]
        lines = ("".join(f"<td style='text-align:left'>{cell}</td>" for cell in row) for row in cells)
        return f"<table style='font-size:110%'>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def link(lesson: Lesson) -> str:
    return f"<a href='{lesson.name}.ipynb'>{html.escape(bare(lesson.title))}</a>"


def progress() -> Progress:
    """Of the student in whose course folder we are."""
    folder = work_folder()
    notebooks = folder / "notebooks"
    return Progress(shown(notebooks if notebooks.is_dir() else Path.cwd()), said(folder))
