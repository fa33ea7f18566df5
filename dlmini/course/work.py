"""A student's own folder: where the exercises are, and where the course keeps what is for the student's eyes only."""

from __future__ import annotations

import os
from pathlib import Path

COPY = "dlmini-course"  # what `dlmini lab` makes where it is called


def work_folder(here: Path | None = None) -> Path:
    """DLMINI_WORK; or the nearest folder with `exercises/` in it: the current one, the course that `dlmini lab` has
    made in it, or one above; or the current one."""
    if "DLMINI_WORK" in os.environ:
        return Path(os.environ["DLMINI_WORK"])
    here = (here or Path.cwd()).resolve()
    return next((folder for folder in (here, here / COPY, *here.parents) if (folder / "exercises").is_dir()), here)


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
