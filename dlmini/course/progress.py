"""What a student's own checks have said, kept in a small file of the course folder and shown by the index.

    .dlmini/progress.json        {"04.ring_allreduce": "passed", "04.tree_allreduce": "not done yet"}

The index shows the student's guesses (guesses.py) beside it. It is for the student's eyes only: grading never reads it.
"""

from __future__ import annotations

import html
import json
from pathlib import Path

from dlmini.course import guess_record, guesses
from dlmini.course.lessons import Lesson, bare, shown
from dlmini.course.work import private, work_folder
from dlmini.files import write_text

MARKS = {"passed": "✔", "failed": "✘", "not done yet": "○"}
EMPTY = "no checks yet"


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
    private(place.parents[1])
    write_text(place, json.dumps(kept, indent=1, sort_keys=True))


class Progress:
    """A table in a notebook, lines in a terminal: every lesson, what its checks have said last, and one's guesses."""

    def __init__(
        self, lessons: list[Lesson], verdicts: dict[str, str], guessed=(), asked: dict[str, int] | None = None
    ):
        self.lessons, self.verdicts, self.guessed, self.asked = lessons, verdicts, list(guessed), asked or {}

    def of(self, lesson: Lesson) -> str:
        own = sorted((task, verdict) for task, verdict in self.verdicts.items() if task.startswith(f"{lesson.number}."))
        return ", ".join(f"{MARKS.get(verdict, '?')} {task[3:]}" for task, verdict in own) or EMPTY

    def guesses_of(self, lesson: Lesson) -> list[guess_record.Kept]:
        return [one for one in self.guessed if one.question.name.startswith(f"{lesson.number}.")]

    def counted(self, lesson: Lesson) -> str:
        """How many of a lesson's questions one has guessed at."""
        own, asked = len(self.guesses_of(lesson)), self.asked.get(lesson.number, 0)
        return f"{own} of {max(own, asked)}" if own or asked else ""

    def __repr__(self) -> str:
        lines = [f"{it.number}  {bare(it.title)}: {self.of(it)}{self._dots(it)}" for it in self.lessons]
        return "\n".join([*lines, *filter(None, self._below())])

    def _dots(self, lesson: Lesson) -> str:
        dots = "".join(guesses.DOTS[one.closeness.level] for one in self.guesses_of(lesson))
        return f"; guesses {dots} ({self.counted(lesson)})" if dots else ""

    def _below(self) -> list[str]:
        return [guesses.LEGEND, guess_record.trend(self.guessed)] if self.guessed else []

    def _repr_html_(self) -> str:
        rows = [(it.number, link(it), html.escape(self.of(it)), self._row(it)) for it in self.lessons]
        cells = [("", "<b>lesson</b>", "<b>your checks</b>", "<b>your guesses</b>"), *rows]
        lines = ("".join(f"<td style='text-align:left'>{cell}</td>" for cell in row) for row in cells)
        table = f"<table style='font-size:110%'>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
        return table + "".join(f"<div>{html.escape(line)}</div>" for line in self._below() if line)

    def _row(self, lesson: Lesson) -> str:
        """A dot for each guess, in the order of guessing; it says more when the mouse rests on it."""
        dots = "".join(dot(one) for one in self.guesses_of(lesson))
        return f"<span class='dlmini-guesses' style='white-space:nowrap'>{dots} {self.counted(lesson)}</span>"


def dot(one: guess_record.Kept) -> str:
    asked, (guess, measured) = one.question, one.first
    told = f"{asked.text} You guessed {asked.said(guess)}, measured {asked.said(measured)}: {one.closeness.words}."
    return f"<span title='{html.escape(told)}'>{guesses.DOTS[one.closeness.level]}</span>"


def link(lesson: Lesson) -> str:
    return f"<a href='{lesson.name}.ipynb'>{html.escape(bare(lesson.title))}</a>"


def progress() -> Progress:
    """Of the student in whose course folder we are."""
    folder = work_folder()
    notebooks = folder / "notebooks" if (folder / "notebooks").is_dir() else Path.cwd()
    lessons = shown(notebooks)
    asked = {it.number: len(asked_in(notebooks / f"{it.name}.ipynb")) for it in lessons}
    return Progress(lessons, said(folder), guess_record.record(folder), asked)


def asked_in(notebook: Path) -> list[str]:
    """The names of the guesses that a notebook asks for."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return guesses.asked_in("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"))
