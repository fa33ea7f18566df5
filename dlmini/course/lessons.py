"""Which lessons there are: `NN_topic.md` in `course/`, `NN_topic.ipynb` in `notebooks/`.

A lesson begins with a heading, `# 04 · All-reduce`, and the question that it answers, as one paragraph.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import NamedTuple

from dlmini.files import DAMAGED

NAME = re.compile(r"\d\d_[a-z0-9_]+")
BEGINNING = re.compile(r"\s*# *(?P<title>[^\n]+)\n\s*(?P<question>(?:[^\n]+\n?)+)")


class Lesson(NamedTuple):
    name: str  # 04_allreduce
    title: str
    question: str

    @property
    def number(self) -> str:
        return self.name[:2]


def lesson(name: str, text: str) -> Lesson:
    """Read from its text."""
    found = BEGINNING.match(text)
    if not found or found["question"].startswith(("#", "```")):
        raise ValueError(
            f"{name} must begin with a heading, `# {name[:2]} · ...`, and a paragraph: the lesson's question"
        )
    return Lesson(name, found["title"].strip(), " ".join(found["question"].split()))


def written(course: Path) -> list[Lesson]:
    """The lessons that have a text."""
    files = (file for file in sorted(course.glob("*.md")) if NAME.fullmatch(file.stem))
    return [lesson(file.stem, file.read_text(encoding="utf-8")) for file in files]


def shown(notebooks: Path) -> list[Lesson]:
    """The lessons that have a notebook."""
    return [in_notebook(file) for file in sorted(notebooks.glob("*.ipynb")) if NAME.fullmatch(file.stem)]


def in_notebook(file: Path) -> Lesson:
    """One that is damaged, or begins otherwise, has its file's name for a title: students' notebooks are their own."""
    try:
        return lesson(file.stem, opening(file))
    except (*DAMAGED, RecursionError):
        return Lesson(file.stem, file.stem, "")


def opening(notebook: Path) -> str:
    """The text of its first cell."""
    cells = json.loads(notebook.read_text(encoding="utf-8-sig"))["cells"]
    return "".join(cells[0]["source"]) if cells else ""


def table(lessons: list[Lesson]) -> str:
    """The learning path, in Markdown."""
    rows = [f"| {it.number} | [{bare(it.title)}]({it.name}.ipynb) | {it.question} |" for it in lessons]
    return "\n".join(["| | lesson | its question |", "|---|---|---|", *rows])


def bare(title: str) -> str:
    """The title without its number."""
    return re.sub(r"^\d\d *[·.:–-]* *", "", title)
