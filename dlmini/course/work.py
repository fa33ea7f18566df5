"""A student's own folder: where the exercises are, and where the course keeps what is for the student's eyes only."""

from __future__ import annotations

import os
from pathlib import Path

COPY = "dlmini-course"  # what `dlmini lab` makes where it is called
NAMED = "DLMINI_WORK"
HANDED_OUT = "handed_out"  # in `.dlmini`: the files as they were given


def work_folder(here: Path | None = None) -> Path:
    """The one that DLMINI_WORK names; or the nearest with `exercises/` in it: the current one, the course around it,
    the course that `dlmini lab` has made in it, or one above; or the current one."""
    if own := named():
        return own
    here = (here or current()).absolute()
    places = (here, *filter(is_handed_out, here.parents), here / COPY, *here.parents)
    return next((folder for folder in places if (folder / "exercises").is_dir()), here)


def named() -> Path | None:
    """The folder that DLMINI_WORK names; with ~, too, since settings of editors may hold it as it was typed."""
    word = os.environ.get(NAMED, "").strip()
    return Path(os.path.expanduser(word)).absolute() if word else None


def current() -> Path:
    """The current folder. A shell says by which links somebody came: `exercises` may lie on another disk."""
    told = os.environ.get("PWD", "")
    try:
        return Path(told) if os.path.isabs(told) and os.path.samefile(told, ".") else Path.cwd()
    except OSError:
        return Path.cwd()


def is_handed_out(folder: Path) -> bool:
    """Whether the course has put its files there."""
    return (folder / ".dlmini" / HANDED_OUT).is_dir()


def private(folder: Path) -> Path:
    """`.dlmini` in it, made if need be; git does not see it."""
    place = folder / ".dlmini"
    make_folder(place)
    if not (place / ".gitignore").exists():
        (place / ".gitignore").write_text("*\n", encoding="utf-8")
    return place


def make_folder(folder: Path) -> None:
    """With all above it; a sentence if something is in the way."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        above = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
        raise NotADirectoryError(f"{above} is there, and is no folder; move it away") from error
