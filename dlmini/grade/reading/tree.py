"""The top of a folder, or of a zip: what lies where, of what kind, and when it was changed.

What cannot be looked at (a folder that only its owner may enter) is in the list nevertheless, and holds nothing.
"""

from __future__ import annotations

import os
from collections import deque
from itertools import filterfalse, islice
from pathlib import Path

from dlmini.grade.reading.archive import FILE, FOLDER, open_below
from dlmini.grade.reading.budget import Budget, Unsafe
from dlmini.grade.reading.names import left_behind
from dlmini.grade.reading.zips import BROKEN, kind_of, listing, opened, stamp

SEEN, DEEP = 500, 8  # files of one place that are looked at, and how deep
MOST = 4 << 20  # bytes of a file that is read whole


class Tree:
    """Places are paths from the root, in parts. Of a zip the names are known at once, of a folder when asked for."""

    def __init__(self, root: Path):
        self.root, self.zipped = root, None
        if root.is_dir():
            return
        try:
            self.zipped = index(root)
        except BROKEN as error:
            raise Unsafe(f"it is neither a folder nor a zip of submissions ({error})"[:300]) from error

    @property
    def name(self) -> str:
        return self.root.resolve().name if self.zipped is None else self.root.stem

    def children(self, at: tuple[str, ...], most: int | None = None) -> dict[str, str]:
        """{name: kind} of what lies in a folder, in order; of very many only so many."""
        if self.zipped is not None:
            return {name: what for name, (what, _) in sorted(islice(self.zipped.get(at, {}).items(), most))}
        try:
            with os.scandir(self.root.joinpath(*at)) as here:
                return dict(sorted((one.name, kind_seen(one)) for one in islice(here, most)))
        except OSError:
            if not at:
                raise
            return {}

    def files(self, at: tuple[str, ...]) -> list[tuple[str, float]]:
        """Names and times of the first files at this place, and in folders below, without what systems leave behind:

        a look into a folder must not make its student late.
        """
        if self.zipped is not None:
            return self._zipped_files(at)
        place, found = self.root.joinpath(*at), []
        if os.path.islink(place) or not os.path.isdir(place):
            return [(place.name, changed(place))]
        for folder, folders, names in os.walk(place):
            folders[:], names = (list(filterfalse(left_behind, some)) for some in (folders, names))
            found += [(name, changed(os.path.join(folder, name))) for name in names[:SEEN]]
            if len(found) >= SEEN:
                break
            if len(Path(folder).parts) - len(place.parts) >= DEEP:
                folders.clear()
        return found

    def _zipped_files(self, at: tuple[str, ...]) -> list[tuple[str, float]]:
        """What is nearest to this place comes first."""
        what, when = self.zipped.get(at[:-1], {}).get(at[-1], (FOLDER, 0.0)) if at else (FOLDER, 0.0)
        found, todo = [(at[-1], when)] if what != FOLDER else [], deque([at])
        while todo and len(found) < SEEN:
            place = todo.popleft()
            here = self.zipped.get(place, {}).items()
            for name, (what, when) in (one for one in here if not left_behind(one[0])):
                found += [(name, when)] if what != FOLDER else []
                todo += [(*place, name)] if what == FOLDER else []
        return found

    def latest(self, at: tuple[str, ...]) -> float:
        return max((when for _, when in self.files(at)), default=0.0)

    def text(self, at: tuple[str, ...]) -> str:
        """The beginning of a file."""
        if self.zipped is None:
            with open_below(self.root, at) as stream:
                return stream.read(MOST).decode("utf-8", "replace")
        archive = opened(self.root)
        (info, *_) = (info for info, _, path in listing(archive) if path == at)
        with archive.open(info) as stream:
            return stream.read(MOST).decode("utf-8", "replace")


def index(root: Path) -> dict[tuple[str, ...], dict[str, tuple[str, float]]]:
    """{place: {name: (kind, time)}} of a zip. What lies deeper than anything that is read is left out."""
    found = {(): {}}
    for info, _, whole in listing(opened(root)):
        path = whole[: Budget.depth + 1]
        for depth in range(1, len(path)):
            found.setdefault(path[: depth - 1], {})[path[depth - 1]] = FOLDER, 0.0
        if path and path == whole:
            here = found.setdefault(path[:-1], {})
            if info.is_dir() or here.get(path[-1], ("", 0.0))[0] == FOLDER:
                here[path[-1]] = FOLDER, 0.0
            else:
                here[path[-1]] = kind_of(info), stamp(info)
    return found


def kind_seen(one: os.DirEntry) -> str:
    """As a folder itself tells, without a look at each file."""
    if one.is_symlink():
        return "a link"
    if one.is_dir(follow_symlinks=False):
        return FOLDER
    return FILE if one.is_file(follow_symlinks=False) else "a device"


def changed(place) -> float:
    try:
        return os.lstat(place).st_mtime
    except OSError:
        return 0.0
