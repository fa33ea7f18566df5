"""A student's guesses, each beside the measurement that it met: kept with the progress, for the student's eyes only.

    .dlmini/guesses/07.accuracy_lost.json

One small file per guess, so that two notebooks at once never undo each other's, and a damaged one costs a single guess.
The first measurement that a guess meets is the one that counts: after it, one knows.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from dlmini.checks import real
from dlmini.course.guesses import NAME, Closeness, Question, closeness, question
from dlmini.course.work import private, work_folder
from dlmini.files import DAMAGED, write_text


class Kept(NamedTuple):
    """A guess on disk; `first` is the pair (guess, measured) that counts, and `when` the time of it."""

    question: Question
    guess: float | str | None
    first: tuple | None = None
    when: float = 0.0

    @property
    def closeness(self) -> Closeness | None:
        return self.first and closeness(self.question, *self.first)


def folder_of(folder: Path | None) -> Path:
    return (folder or work_folder()) / ".dlmini" / "guesses"


def kept(name: str, folder: Path | None = None) -> Kept | None:
    """What is on disk under this name; nothing, if it is not there or damaged."""
    try:
        found = json.loads((folder_of(folder) / f"{name}.json").read_text(encoding="utf-8"))
        asked = found["question"]
        asked = question(name, asked["text"], asked["unit"], asked["between"], asked["of"] or None)
        guess, first = found["guess"], found["first"]
        guess = None if guess is None else asked.accept(guess)
        first = None if first is None else (asked.accept(first[0]), asked.accept(first[1]))
        return Kept(asked, guess, first, real(found["when"], "when"))
    except (*DAMAGED, RecursionError):
        return None


def keep(one: Kept, folder: Path | None = None) -> None:
    place = private(folder or work_folder()) / "guesses"
    place.mkdir(exist_ok=True)
    found = {"question": asdict(one.question), "guess": one.guess, "first": one.first, "when": one.when}
    write_text(place / f"{one.question.name}.json", json.dumps(found, indent=1, sort_keys=True))


def give(asked: Question, guess, folder: Path | None = None) -> None:
    """Keep a guess, or take it back with None; what has counted once goes on counting."""
    guess = None if guess is None else asked.accept(guess)
    before = same_question(asked, folder)
    keep(Kept(asked, guess, *((before.first, before.when) if before else ())), folder)


def given(asked: Question, folder: Path | None = None):
    """The guess that stands, if there is one to this question."""
    found = same_question(asked, folder)
    return found.guess if found else None


def same_question(asked: Question, folder: Path | None = None) -> Kept | None:
    """What is kept, unless a newer edition of the lesson asks for something else under the name."""
    found = kept(asked.name, folder)
    return found if found and (found.question.of, found.question.unit) == (asked.of, asked.unit) else None


def meet(asked: Question, measured, folder: Path | None = None) -> None:
    """The measurement is there: the first one that a guess meets is kept beside it."""
    found = same_question(asked, folder)
    finite = isinstance(measured, str) or isfinite(measured)
    if found and found.guess is not None and found.first is None and finite:
        keep(Kept(asked, found.guess, (found.guess, measured), time.time()), folder)


def record(folder: Path | None = None) -> list[Kept]:
    """All guesses that have met their measurement, the oldest first."""
    names = (file.stem for file in folder_of(folder).glob("*.json") if NAME.fullmatch(file.stem))
    found = (kept(name, folder) for name in names)
    return sorted((one for one in found if one and one.first), key=lambda one: (one.when, one.question.name))


def trend(guesses: list[Kept]) -> str:
    """Whether one's guesses become better: the earlier half beside the later."""
    half = len(guesses) // 2
    if half < 3:
        return ""
    early, late = (sum(one.closeness.level >= 2 for one in some) for some in (guesses[:half], guesses[-half:]))
    return f"Of your first {half} guesses {early} were ● or ◐, of your last {half} it is {late}."
