"""Where the course lies: the clone it was installed from, or a copy of what the package carries.

A course folder holds `notebooks/` and `exercises/`. A clone that one may write to is used as it is. Otherwise (an
installed wheel, a clone that belongs to the lab's administrator) its files are copied to a folder of the student's.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import dlmini
from dlmini.files import write_bytes

HOUSE = Path(dlmini.__file__).resolve().parent
CARRIED = HOUSE / "course" / "carried"  # where a wheel has them
PARTS = ("notebooks", "exercises")
INDEX = Path("notebooks") / "index.ipynb"
COPY = "dlmini-course"


class Course(NamedTuple):
    """The folder to work in, and, if it is a copy: which files are new in it, which were there and were left alone."""

    root: Path
    new: list[Path]
    kept: list[Path]


def clone() -> Path | None:
    """The checkout that this package is imported from, if it is one."""
    root = HOUSE.parent
    return root if (root / "course" / "index.md").is_file() else None


def opened(here: Path, source: Path | None = None) -> Course:
    """The course to work in, seen from the folder `here`; a copy is made or completed where one is needed."""
    source = source or clone() or CARRIED
    if not (source / INDEX).is_file():
        raise FileNotFoundError(f"dlmini is here without its notebooks: {source / INDEX} is missing; install it again")
    if source != CARRIED and os.access(source / "notebooks", os.W_OK):
        return Course(source, [], [])
    root = here if is_course(here) else here / COPY
    return Course(root, *copied(source, root))


def is_course(folder: Path) -> bool:
    return (folder / INDEX).is_file()


def copied(source: Path, target: Path) -> tuple[list[Path], list[Path]]:
    """Copy what is not there yet; never touch what is. Returns the new and the kept files, relative to `target`."""
    new, kept = [], []
    for part in PARTS:
        for file in sorted(path for path in (source / part).rglob("*") if is_carried(path)):
            name = file.relative_to(source)
            (kept if (target / name).exists() else new).append(name)
    for name in new:
        place_whole(source / name, target / name)
    return new, kept


def is_carried(path: Path) -> bool:
    return path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts)


def place_whole(source: Path, target: Path) -> None:
    """A copy that is there whole or not at all: what is interrupted must not look like the student's own work."""
    target.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(target, source.read_bytes())
