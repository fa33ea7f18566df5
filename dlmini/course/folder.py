"""Where the course lies: in a folder of the student's own, copied from the clone or from what the package carries.

A course folder holds `notebooks/` and `exercises/`. It is DLMINI_WORK (`start.py` says: `dlmini-course` in the home
folder), the current folder if it is one, the course around it, or `dlmini-course` in it. So running a lesson never
changes a clone, and an update never costs a student's line (updating.py). Who writes lessons works in the clone:
`dlmini lab` there opens it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import dlmini
from dlmini.course.updating import PARTS, Update, update
from dlmini.course.work import COPY, is_handed_out, named

HOUSE = Path(dlmini.__file__).resolve().parent
CARRIED = HOUSE / "course" / "carried"  # where a wheel has them
INDEX = Path("notebooks") / "index.ipynb"


class Course(NamedTuple):
    """The folder to work in, and what became of its files."""

    root: Path
    update: Update


def clone() -> Path | None:
    """The checkout that this package is imported from, if it is one."""
    root = HOUSE.parent
    return root if (root / "course" / "index.md").is_file() else None


def texts() -> Path:
    """Where the lessons' texts are: `course/` in the clone, or what a wheel carries."""
    return clone() or CARRIED


def opened(here: Path, source: Path | None = None) -> Course:
    """The course to work in, seen from the folder `here`; it is made, or brought up to date."""
    source = source or clone() or CARRIED
    if not (source / INDEX).is_file():
        raise FileNotFoundError(f"dlmini is here without its notebooks: {source / INDEX} is missing; install it again")
    root = chosen(here, source)
    if root.exists() and root.samefile(source) and os.access(source / "notebooks", os.W_OK):
        return Course(source, Update())
    if root.exists() and root.samefile(source):
        raise PermissionError(f"{root} is not yours to write to; open the course from a folder of your own")
    course = Course(root, update(source, root))
    if not is_course(root):
        raise PermissionError(f"no course could be put into {root}: {course.update.refused.get(INDEX)}")
    return course


def chosen(here: Path, source: Path | None = None) -> Path:
    """Where a student who is in `here` works. Nobody gets a second course inside of the first."""
    if own := named():
        return own
    within = (place for place in here.parents if is_handed_out(place) or (place == source and is_part(here, source)))
    return here if is_course(here) else next(filter(is_course, within), here / COPY)


def is_part(here: Path, source: Path) -> bool:
    return here.relative_to(source).parts[0] in PARTS


def is_course(folder: Path) -> bool:
    return (folder / INDEX).is_file()
