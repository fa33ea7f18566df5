"""Which file of a hand-in counts, and its text: read where nothing that goes wrong costs anybody else."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from dlmini.grade.reading.archive import FILE, Entry, entries, members
from dlmini.grade.reading.budget import Budget, Unsafe
from dlmini.grade.reading.class_list import wanted
from dlmini.grade.reading.exports import own_name
from dlmini.grade.reading.names import left_behind, path_of, printable
from dlmini.grade.reading.source_text import PICTURES, Unreadable, text_of

PROGRAMS = (".py", ".ipynb")
LARGE = PICTURES + 1  # bytes of a member, if it is larger than any that is read
ARCHIVE = 64 << 20  # bytes of an archive inside another one


class Picked(NamedTuple):
    """The text that counts, and the file it is from; or a sentence that says why there is none."""

    source: str | None
    problem: str = ""
    file: str = ""


def picked(root: Path, places: list[tuple[str, ...]], stem: str, tasks: Iterable[str] = ()) -> Picked:
    """The program in these places of a folder or zip. tasks: the functions that it is asked for."""
    budget = Budget()
    try:
        files = [entry for place in places for entry in gathered(root, tuple(place), budget)]
        seen = list(visible(files))
        while not named(seen, stem) and budget.nested and any(map(is_archive, seen)):
            budget.nested -= 1
            seen = opened_up(seen, budget)
        return chosen(seen, stem, tasks)
    except (Unsafe, Unreadable, OSError) as error:
        said = str(error) if isinstance(error, Unreadable) else f"It is not read: {reason(error)}."
        return Picked(None, printable(said))


def reason(error: Unsafe | OSError) -> str:
    """Without the grader's own path, which an error of the system would name."""
    return (error.strerror or "the system refuses") if isinstance(error, OSError) else str(error)


def gathered(root: Path, place: tuple[str, ...], budget: Budget) -> list[Entry]:
    """All files of a place. One that is a file of a flat export goes by the name that its sender gave it."""
    found = entries(root.joinpath(*place), budget, root) if root.is_dir() else members(root, budget, place)
    return [e._replace(path=(own_name(e.path[0]),)) if e.path == place[-1:] else e for e in found]


def visible(files: list[Entry]) -> Iterable[Entry]:
    """Without what systems and editors leave behind."""
    return (e for e in files if not any(map(left_behind, e.path)))


def named(files: list[Entry], stem: str) -> list[Entry]:
    """Those of the exercise's own name: programs before notebooks, nearest to the top first."""
    return [
        entry
        for word in wanted(stem)
        for entry in sorted(files, key=lambda e: len(e.path))
        if entry.path[-1].lower() == word
    ]


def is_archive(entry: Entry) -> bool:
    return entry.kind == FILE and entry.path[-1].lower().endswith(".zip")


def opened_up(files: list[Entry], budget: Budget) -> list[Entry]:
    """Zips among the files, replaced by what they hold: a folder of the same name."""
    out = []
    for entry in files:
        if is_archive(entry):
            data = entry.read(ARCHIVE + 1)
            if len(data) > ARCHIVE:
                raise Unsafe(f"{path_of(entry.path)} has more than {ARCHIVE >> 20} MB")
            folder = (*entry.path[:-1], entry.path[-1][:-4])
            inner = members(io.BytesIO(data), budget)
            out += visible([Entry((*folder, *e.path), e.kind, e.time, e.read) for e in inner])
        else:
            out.append(entry)
    return out


def chosen(files: list[Entry], stem: str, tasks: Iterable[str]) -> Picked:
    """By its name; or the only program there is; or that one of several which has most of the functions."""
    if found := named(files, stem):
        return read(found[0], stem, tasks)
    near = sorted(files, key=lambda e: len(e.path))  # what lies deep is often not the student's own
    programs = [e for e in near if e.path[-1].lower().endswith(PROGRAMS)]
    if len(programs) == 1:
        return read(programs[0], stem, tasks)
    tried = [(share(text.source or "", tasks), text) for text in (attempt(e, stem, tasks) for e in programs[:20])]
    best = max((count for count, _ in tried), default=0)
    winners = [text for count, text in tried if count == best]
    if best and len(winners) == 1:
        return winners[0]
    if not files:
        return Picked(None, "Nothing was handed in: there is no file.")
    seen = ", ".join(path_of(e.path) + (f" ({e.kind})" if e.kind != FILE else "") for e in files[:5])
    return Picked(None, f"{stem}.py was not found; the submission holds {seen}.")


def share(source: str, tasks: Iterable[str]) -> int:
    """How many of the functions a program defines; those that stand for what a notebook lacks do not count."""
    absent = r"(?!\(\*args, \*\*kwargs\):\n    raise (NameError|SyntaxError)\()"
    return sum(bool(re.search(rf"^def {task}\b{absent}", source, re.MULTILINE)) for task in tasks)


def attempt(entry: Entry, stem: str, tasks: Iterable[str]) -> Picked:
    try:
        return read(entry, stem, tasks)
    except Unreadable as error:
        return Picked(None, str(error))


def read(entry: Entry, stem: str, tasks: Iterable[str]) -> Picked:
    name = path_of(entry.path)
    if entry.kind != FILE:
        raise Unreadable(f"{name} is {entry.kind}, and is not read: hand in the file itself.")
    return Picked(text_of(entry.read(LARGE), path_of(entry.path[-1:]), tasks, stem), "", name)
