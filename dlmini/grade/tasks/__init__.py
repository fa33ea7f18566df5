"""The tests of every lesson: one module per exercise, of the same name. Hidden from the student's processes."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from dlmini.grade.lesson import Lesson

HERE = Path(__file__).parent


def names() -> list[str]:
    """All lessons that can be graded."""
    return sorted(file.stem for file in HERE.glob("[0-9][0-9]_*.py"))


def lesson(word: str) -> Lesson:
    """The lesson that `word` names: 04, 04_allreduce or 04.ring_allgather."""
    number = str(word)[:2]
    found = [name for name in names() if name.startswith(number + "_")]
    if not found:
        raise ValueError(f"there is no lesson {word!r} to grade; there are {', '.join(names())}")
    return import_module(f"dlmini.grade.tasks.{found[0]}").lesson
