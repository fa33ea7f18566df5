"""The index's table: every lesson, what a student's own checks have said last (check_record.py), and their guesses.

What cannot be read costs its own place in the table, and a sentence below says what to do.
"""

from __future__ import annotations

import html
import json
from pathlib import Path

from dlmini.course import check_record, guess_record, guesses
from dlmini.course.check_record import MARKS
from dlmini.course.lessons import Lesson, bare, shown
from dlmini.course.work import work_folder
from dlmini.files import DAMAGED

EMPTY = "no checks yet"


class Progress:
    """A table in a notebook, lines in a terminal: every lesson, what its checks have said last, and one's guesses."""

    def __init__(
        self,
        lessons: list[Lesson],
        verdicts: dict[str, str],
        guessed=(),
        asked: dict[str, int] | None = None,
        notes: list[str] | None = None,
    ):
        self.lessons, self.verdicts, self.guessed, self.asked = lessons, verdicts, list(guessed), asked or {}
        self.notes = notes or []

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
        return [*([guesses.LEGEND, guess_record.trend(self.guessed)] if self.guessed else []), *self.notes]

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
    asked = {it: asked_in(notebooks / f"{it.name}.ipynb") for it in lessons}
    counts = {it.number: len(names or ()) for it, names in asked.items()}
    verdicts, damaged = check_record.read(folder)
    notes = [*(told_broken(it) for it, names in asked.items() if names is None), *map(told_damaged, damaged)]
    return Progress(lessons, verdicts, guess_record.record(folder), counts, notes)


def told_broken(lesson: Lesson) -> str:
    return (
        f"{lesson.name}.ipynb cannot be read as a notebook. If Jupyter does not open it either: move it away, and "
        "the next start of the lab, or `dlmini update`, brings a new one."
    )


def told_damaged(file: Path) -> str:
    again = "delete it" if file.name == check_record.EARLIER else f'run check("{file.name}") again'
    return f"What {file} held of your checks cannot be read: {again}."


def asked_in(notebook: Path) -> list[str] | None:
    """The names of the guesses that a notebook asks for; None if it is none that can be read."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8-sig"))["cells"]
        return guesses.asked_in("\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"))
    except (*DAMAGED, RecursionError):
        return None
