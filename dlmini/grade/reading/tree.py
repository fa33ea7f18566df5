"""The top of a folder, or of a zip: what lies where, of what kind, and when it was changed."""

from __future__ import annotations

import os
from pathlib import Path

from dlmini.grade.reading.archive import FOLDER, kind
from dlmini.grade.reading.budget import Unsafe
from dlmini.grade.reading.names import parts_of
from dlmini.grade.reading.zips import BROKEN, kind_of, name_of, opened, stamp

SEEN, DEEP = 500, 8  # files of one place that are looked at, and how deep
MOST = 4 << 20  # bytes of a file that is read whole


class Tree:
    """Places are paths from the root, in parts. Of a zip the names are known at once, of a folder when asked for."""

    def __init__(self, root: Path):
        self.root, self.zipped = root, None
        if root.is_dir():
            return
        try:
            infos = opened(root).infolist()
        except BROKEN as error:
            raise Unsafe(f"{root} is neither a folder nor a zip of submissions ({error})"[:300]) from error
        named = [(parts_of(name_of(info)), info) for info in infos]
        self.zipped = [(path, FOLDER if i.is_dir() else kind_of(i), stamp(i)) for path, i in named if path]

    @property
    def name(self) -> str:
        return self.root.resolve().name if self.zipped is None else self.root.stem

    def children(self, at: tuple[str, ...]) -> dict[str, str]:
        """{name: kind} of what lies in a folder, in order."""
        if self.zipped is None:
            place = self.root.joinpath(*at)
            return {name: kind(os.lstat(place / name).st_mode) for name in sorted(os.listdir(place))}
        below = {}
        for path, what, _ in self.zipped:
            if path[: len(at)] == at and len(path) > len(at):
                below[path[len(at)]] = FOLDER if len(path) > len(at) + 1 else below.get(path[len(at)], what)
        return dict(sorted(below.items()))

    def files(self, at: tuple[str, ...]) -> list[tuple[str, float]]:
        """Names and times of the first files at this place, and in folders below."""
        if self.zipped is not None:
            return [(path[-1], when) for path, what, when in self.zipped if path[: len(at)] == at and what != FOLDER]
        place, found = self.root.joinpath(*at), []
        if place.is_symlink() or not place.is_dir():
            return [(place.name, place.lstat().st_mtime)]
        for folder, folders, names in os.walk(place):
            found += [(name, os.lstat(os.path.join(folder, name)).st_mtime) for name in names[:SEEN]]
            if len(found) >= SEEN:
                break
            if len(Path(folder).parts) - len(place.parts) >= DEEP:
                folders.clear()
        return found

    def latest(self, at: tuple[str, ...]) -> float:
        return max((when for _, when in self.files(at)), default=0.0)

    def text(self, at: tuple[str, ...]) -> str:
        """The beginning of a file."""
        if self.zipped is None:
            with open(self.root.joinpath(*at), "rb") as stream:
                return stream.read(MOST).decode("utf-8", "replace")
        archive = opened(self.root)
        (info, *_) = (info for info in archive.infolist() if parts_of(name_of(info)) == at)
        with archive.open(info) as stream:
            return stream.read(MOST).decode("utf-8", "replace")
