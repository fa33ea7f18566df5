"""Files of a folder or a zip, as a list. Nothing is ever unpacked, so nothing can be made to be written elsewhere.

Contents are read when they are asked for, and as far as the budget goes. What is no file (links, pipes, devices,
encrypted members) is listed as such, and cannot be read. Paths that leave the archive are refused.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dlmini.grade.reading.budget import Budget, Unsafe
from dlmini.grade.reading.names import parts_of, path_of
from dlmini.grade.reading.zips import BROKEN, kind_of, listing, opened, stamp

FILE, FOLDER, SHUT = "file", "folder", "a folder that cannot be opened"
KINDS = {stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


class Entry(NamedTuple):
    """A file: its path inside the hand-in (parts), what kind it is, when it was changed, and how to read it."""

    path: tuple[str, ...]
    kind: str
    time: float
    read: Callable[[int], bytes]  # at most so many bytes


def entries(root: Path, budget: Budget) -> list[Entry]:
    """All files of a folder or zip; a file alone is a list of one."""
    if root.is_symlink() or not root.is_dir():
        if kind(root.lstat().st_mode) == FILE and zipfile.is_zipfile(root):
            return members(root, budget)
        return [_entry(root, (root.name,), budget)]
    return [_entry(file, file.relative_to(root).parts or (root.name,), budget) for file in walk(root, budget)]


def walk(root: Path, budget: Budget) -> list[Path]:
    """All that is no folder, or cannot be looked into, in order; links are listed but not followed."""
    found, shut, depth = [], [], len(root.parts)
    for folder, folders, files in os.walk(root, onerror=shut.append, followlinks=False):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = sorted(set(folders) - set(links))
        budget.list(len(folders) + len(links) + len(files))
        budget.descend(len(Path(folder).parts) - depth)
        found += [Path(folder, name) for name in sorted([*files, *links])]
    return [*found, *(Path(error.filename) for error in shut)]


def kind(mode: int) -> str:
    """What a file is, by its mode."""
    if stat.S_ISREG(mode):
        return FILE
    return FOLDER if stat.S_ISDIR(mode) else KINDS.get(stat.S_IFMT(mode), "a device")


def _entry(file: Path, path: tuple[str, ...], budget: Budget) -> Entry:
    found = file.lstat()

    def read(most: int) -> bytes:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
        with open(os.open(file, flags), "rb") as stream:
            data = stream.read(most)
        budget.spend(len(data))
        return data

    what = kind(found.st_mode)
    return Entry(path, SHUT if what == FOLDER else what, found.st_mtime, read)


def members(source, budget: Budget, inside: tuple[str, ...] = ()) -> list[Entry]:
    """The files of a zip: a path, or a stream. inside: only what lies in this folder of it, named from there on."""
    try:
        archive = opened(source)
    except BROKEN as error:
        raise Unsafe(f"the archive cannot be read ({str(error)[:200]})") from error
    found = []
    for info, name, whole in listing(archive):
        if info.is_dir() or whole[: len(inside)] != inside:
            continue
        budget.list()
        parts = safe(name)
        budget.descend(len(parts))
        if path := parts[len(inside) :] or parts[-1:]:
            found.append(Entry(path, kind_of(info), stamp(info), _member(archive, info, name, budget)))
    return found


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, budget: Budget) -> Callable[[int], bytes]:
    def read(most: int) -> bytes:
        try:
            with archive.open(info) as member:
                data = member.read(min(most, budget.bytes + 1))
        except BROKEN as error:
            raise Unsafe(f"{path_of(parts_of(name))} in the archive is damaged ({str(error)[:200]})") from error
        budget.spend(len(data))
        return data

    return read


def safe(name: str) -> tuple[str, ...]:
    """Parts of a relative path that stays inside."""
    parts = parts_of(name)
    if name[:1] in ("/", "\\") or ".." in parts or ":" in name or "\0" in name:
        raise Unsafe(f"the archive names {path_of((name,))!r}, which lies outside it")
    return parts
