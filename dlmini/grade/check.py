"""`check("04.ring_allreduce")`: what a student asks of the grader, in a notebook or in a terminal.

The same runners and the same judge as in grading, with the public tests only. The file is read anew each time, so that
an edit counts at once. Runners stay warm between two checks.
"""

from __future__ import annotations

import atexit
import os
import re
from collections import Counter
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from dlmini.grade.cards import card, lines
from dlmini.grade.examine import Examiner
from dlmini.grade.hints import folded, hints
from dlmini.grade.lesson import VISIBLE, Lesson, find_lesson, graded_lessons
from dlmini.grade.reading.source_text import text_of
from dlmini.grade.runner.process import Runners
from dlmini.grade.sandbox.levels import Bare, Own
from dlmini.grade.verdict import NOT_DONE, PASSED, Verdict

COURSE = "dlmini-course"  # what `dlmini lab` makes where it is called
_warm: dict[str, Runners] = {}


@dataclass(frozen=True)
class Report:
    """Cards of one check: HTML in a notebook, text elsewhere. True if everything has passed.

    Under a function that has not, its hints wait to be opened.
    """

    word: str
    verdicts: list[Verdict]
    hints: dict[str, tuple[str, ...]] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)  # tests of each function that only grading runs
    note: str = ""  # what else is to be said, below all cards

    def __bool__(self) -> bool:
        return bool(self.verdicts) and all(v.status == PASSED for v in self.verdicts)

    def standing(self) -> dict[str, str]:
        """What to say of each function in two words: passed, failed, or not done yet."""
        found = {}
        for task in self.tasks():
            seen = {v.status for v in self.verdicts if v.task == task}
            passed = "passed" if seen == {PASSED} else "failed"
            found[f"{self.word[:2]}.{task}"] = "not done yet" if NOT_DONE in seen else passed
        return found

    def _replay(self, verdict: Verdict) -> str:
        return f'again: check("{self.word[:2]}.{verdict.task}", seed={verdict.seed})'

    def _repr_html_(self) -> str:
        if not self.verdicts:
            return f"<div>{escape(repr(self))}</div>"
        return "".join([*map(self._html_of, self.tasks()), f"<div>{escape(self.note)}</div>" * bool(self.note)])

    def _html_of(self, task: str) -> str:
        cards = "".join(card(v, self._replay(v)) for v in self.of(task))
        more = self._more(task)
        return f"<h4>{task}</h4>{cards}" + (f"<div>{more}</div>" if more else folded(self.hints.get(task, ())))

    def _more(self, task: str) -> str:
        """What a card that is all green leaves open."""
        number = self.kept.get(task, 0)
        if not number or any(v.status != PASSED for v in self.of(task)):
            return ""
        return f"Grading has {number} more test{'s' * (number > 1)}: whatever the docstring promises must hold."

    def __repr__(self) -> str:
        if not self.verdicts:
            return f"{self.word}: no exercise of that name yet"
        return "\n".join(filter(None, [*map(self._text_of, self.tasks()), self.note]))

    def _text_of(self, task: str) -> str:
        return "\n".join(filter(None, [task, *(lines(v, self._replay(v)) for v in self.of(task)), self._more(task)]))

    def of(self, task: str) -> list[Verdict]:
        """The verdicts on one function; of an untouched one a single verdict says it."""
        mine = [v for v in self.verdicts if v.task == task]
        return mine[:1] if all(v.status == NOT_DONE for v in mine) else mine

    def tasks(self) -> list[str]:
        return list(dict.fromkeys(v.task for v in self.verdicts))


def check(word: str, seed: int = 0, folder: str | Path | None = None) -> Report:
    """Check one function ("04.ring_allgather") or a whole exercise ("04"). `seed` replays a failure.

    The file is exercises/04_allreduce.py in `folder`, in DLMINI_WORK, or in the nearest folder upwards that has it.
    """
    if not re.fullmatch(r"\d\d(_\w+)?(\.\w+)?", word):
        raise ValueError(
            f"check wants a lesson and a name, such as 04.ring_allreduce, or a lesson alone, such as 04; not {word!r}"
        )
    if not any(name.startswith(word[:2] + "_") for name in graded_lessons()):
        return Report(word, [])
    lesson = find_lesson(word)
    wanted, file = chosen(lesson, word), find(lesson, folder)
    text = text_of(file.read_bytes(), file.name)
    examiner = Examiner(lesson, text, warm(lesson))
    kept = Counter(test.task for test in lesson.tests if test.visibility != VISIBLE)
    return Report(word, [examiner.examine(test, seed) for test in wanted], hints(text), kept)


def chosen(lesson: Lesson, word: str) -> list:
    """The public tests of what `word` names."""
    task = word.partition(".")[2]
    if task and task not in lesson.tasks():
        raise ValueError(f"exercise {lesson.number} has no {task!r}; it has {', '.join(lesson.tasks())}")
    return [t for t in lesson.tests if t.visibility == VISIBLE and task in ("", t.task)]


def find(lesson: Lesson, folder: str | Path | None = None) -> Path:
    """The student's file."""
    here, named = Path.cwd(), folder or os.environ.get("DLMINI_WORK")
    for place in [Path(named)] if named else [here, here / COURSE, *here.parents]:
        for file in (place / "exercises" / lesson.file, place / lesson.file):
            if file.is_file():
                return file
    if named:
        raise FileNotFoundError(f"{lesson.file} was not found in {named}; is this the folder of your course?")
    raise FileNotFoundError(
        f"{lesson.file} was found neither in {here / 'exercises'} nor above; run this inside the course, or where "
        "`dlmini lab` has made it"
    )


def warm(lesson: Lesson) -> Runners:
    """Runners that stay, under limits but in no sandbox: it is one's own program on one's own machine."""
    if lesson.name not in _warm:
        _warm[lesson.name] = Runners(Own() if os.name == "posix" else Bare(), lesson.limits)
    return _warm[lesson.name]


@atexit.register
def cool() -> None:
    """End the runners that were kept."""
    while _warm:
        _warm.popitem()[1].__exit__()
