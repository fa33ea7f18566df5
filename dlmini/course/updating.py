"""A student's copy of the course, brought up to date without losing a line of theirs.

What was handed out is kept in `.dlmini/handed_out`, so that it is known who changed what:

    new          it was not there: copied
    updated      the student had not changed it: replaced (a notebook that was merely run counts as unchanged)
    merged       both changed it, in different places: merged (merging.py); the student's old file is kept
    beside       both changed the same place: the student's stays, the new one is put beside it, `04_allreduce.new.py`
                 (`04_allreduce.new2.py` if the student has gone on in that one)
    kept         it was there before the course was: left alone
    refused      it, or what it is compared with, cannot be read or written: all others are brought up to date
"""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field
from itertools import chain, count
from os.path import lexists
from pathlib import Path

from dlmini.course.merging import cells, lines_of, merged_notebook, merged_text
from dlmini.course.work import HANDED_OUT, make_folder, private
from dlmini.files import plainly, write_bytes

PARTS = ("notebooks", "exercises")
BEFORE = "before_update"
NOTEBOOK = ".ipynb"


@dataclass
class Update:
    """Which files of the course became what, relative to the student's folder."""

    new: list[Path] = field(default_factory=list)
    updated: list[Path] = field(default_factory=list)
    merged: list[Path] = field(default_factory=list)
    beside: dict[Path, Path] = field(default_factory=dict)  # and where the new one is
    kept: list[Path] = field(default_factory=list)
    refused: dict[Path, str] = field(default_factory=dict)  # what could not be read or written, and why


def update(source: Path, target: Path) -> Update:
    """Bring `target` up to what `source` has; a file is replaced whole or not at all. One that the system refuses costs
    no other."""
    done = Update()
    for name in names(source):
        try:
            book(done, name, bring_named(source, target, name), target)
        except OSError as error:
            done.refused[name] = plainly(error)
    return done


def book(done: Update, name: Path, what: str | Path, target: Path) -> None:
    if isinstance(what, Path):
        done.beside[name] = what.relative_to(target)
    elif what:
        getattr(done, what).append(name)


def bring_named(source: Path, target: Path, name: Path) -> str | Path:
    own = private(target)
    demand_target(target / name)
    return bring(source / name, target / name, own / HANDED_OUT / name, own / BEFORE / name)


def demand_target(mine: Path) -> None:
    """A link whose disk is not there: what it leads to is the student's own, and no file was deleted."""
    for link in (mine, mine.parent):
        if link.is_symlink() and not link.exists():
            raise FileNotFoundError(f"{link} is a link to {os.readlink(link)}, which is not there; bring it back")


def names(source: Path) -> list[Path]:
    """The files of a course."""
    found = (path for part in PARTS for path in sorted((source / part).rglob("*")))
    return [path.relative_to(source) for path in found if is_carried(path)]


def is_carried(path: Path) -> bool:
    return path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts)


def bring(theirs: Path, mine: Path, base: Path, before: Path) -> str | Path:
    """One file; returns what became of it, nothing if nothing did, or where the new one was put beside it."""
    new = theirs.read_bytes()
    old = base.read_bytes() if base.is_file() else None
    if not mine.is_file():
        place(mine, new)
        what = "new"
    elif old is None:
        what = "" if same(mine.read_bytes(), new, mine.suffix) else "kept"
        if what:
            return what
    elif old == new:
        return ""
    else:
        what = both(mine, old, new, before)
    place(base, new)  # last: who is interrupted before is brought up to date the next time
    return what


def both(mine: Path, old: bytes, new: bytes, before: Path) -> str | Path:
    """The course changed a file that the student has."""
    own = mine.read_bytes()
    touched = not same(own, old, mine.suffix)
    if touched and same(own, new, mine.suffix):  # by hand, or by an update that ran at the same time
        return ""
    merge = merged_notebook if mine.suffix == NOTEBOOK else merged_text
    try:
        text, clash = merge(*(data.decode() for data in (old, own, new)))
    except ValueError:  # no notebook any more, or no text
        clash = True
    if clash:
        beside = free(mine.with_suffix(f".new{mine.suffix}"), new, old)
        place(beside, new)
        return beside
    if touched:
        place(free(before, own), own)
    place(mine, text.encode())
    return "merged" if touched else "updated"


def free(first: Path, *known: bytes) -> Path:
    """`first`, or the same with a number: where nothing is yet, or nothing but what is known. Students go on in such
    files."""
    tried = (first.with_name(f"{first.stem}{number}{first.suffix}") for number in chain([""], count(2)))
    return next(file for file in tried if not lexists(file) or (file.is_file() and file.read_bytes() in known))


def same(one: bytes, other: bytes, suffix: str) -> bool:
    """Whether a student's file says what another does, whatever its line ends and outputs."""
    if one == other:
        return True
    try:
        return read(one, suffix) == read(other, suffix)
    except ValueError:
        return False


def read(data: bytes, suffix: str) -> list:
    text = data.decode()
    return cells(text) if suffix == NOTEBOOK else lines_of(text)


def place(file: Path, data: bytes) -> None:
    """There whole or not at all: what is interrupted must not look like the student's own work."""
    make_folder(file.parent)
    write_bytes(file, data)


def changes(target: Path) -> dict[Path, list[str]]:
    """What the student changed since it was handed out: the lines of a diff, by file."""
    base = target / ".dlmini" / HANDED_OUT
    found = {}
    for name in names(base) if base.is_dir() else ():
        lines = [*difference(base / name, target / name)]
        if lines:
            found[name] = lines
    return found


def difference(old: Path, new: Path) -> list[str]:
    """Lines with + and -; of notebooks only the sources of cells are looked at."""
    if not new.is_file():
        return ["(it was deleted; the next update brings it back)"]
    try:
        before, after = lines(old), lines(new)
    except OSError as error:
        return [f"(it cannot be read: {plainly(error)})"]
    except ValueError:
        return ["(it is no longer a notebook that can be read)" if new.suffix == NOTEBOOK else "(it is no text)"]
    return list(difflib.unified_diff(before, after, lineterm="", n=1))[2:]


def lines(file: Path) -> list[str]:
    if file.suffix != NOTEBOOK:
        return lines_of(file.read_bytes().decode())
    return [line for cell in cells(file.read_bytes().decode()) for line in lines_of(cell.source)]
