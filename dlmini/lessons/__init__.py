"""One folder per lesson, named as the lesson: what it measures, shows, records and grades.

NAME            in the folder's __init__.py: `04_allreduce`, the name of its text, notebook, exercise and solution
pictures.py     its figures; other files that draw or have widgets stand beside it
grading.py      what its exercise is tested for: `lesson`
mistakes.py     what mistakes give that its text speaks of, and how `check` calls them
recording.py    which runs are recorded of its live experiment: `film`; they lie in recording.jsonl.gz
all the rest    what it measures: a cell of a notebook is a line or two, the function that it calls is here, and tested

What lessons share stands beside the folders. To add a lesson, follow docs/adding_a_lesson.md.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent


def folders(file: str = "__init__.py") -> dict[str, Path]:
    """Name -> folder of every lesson that has such a file, in the order of the course."""
    found = (path.parent for path in HERE.glob(f"*/{file}"))
    return dict(sorted((import_module(f"dlmini.lessons.{folder.name}").NAME, folder) for folder in found))


def part(name: str, what: str) -> ModuleType:
    """A module of a lesson: part("04_allreduce", "grading")."""
    return import_module(f"dlmini.lessons.{folders()[name].name}.{what}")


def called(word: str | int, names) -> str | None:
    """Which of the names is meant: 03_data_parallelism is also 03, 3 and data parallelism."""
    wanted = str(word).strip().lower().replace(" ", "_").replace("-", "_")
    for name in names:
        number, _, topic = name.partition("_")
        if wanted in (name, number, number.lstrip("0") or "0", topic):
            return name
    return None
