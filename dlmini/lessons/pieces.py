"""A student's own program in the place of the library's: for lessons in which ranks run what the student wrote."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from dlmini.course.strip import stubs
from dlmini.lessons.mine import exercise


def own(lesson: str, task: str, otherwise: Callable, needs: Sequence[str] = ()) -> tuple[Callable, str]:
    """The student's function `task` of exercises/<lesson>.py, and a sentence that says whose it is.

    `otherwise` takes its place as long as it, or anything that it `needs`, is not written yet.
    """
    module = exercise(lesson)
    text = Path(module.__file__).read_text(encoding="utf-8-sig")
    undone = [name for name in stubs(text) if name in (task, *needs)]
    if undone:
        return otherwise, f"Not done yet: {', '.join(undone)}. The library's own took the place."
    return getattr(module, task), f"This was your {task}."
