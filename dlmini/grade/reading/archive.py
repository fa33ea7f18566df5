"""Files of a folder or a zip, as a list. Nothing is ever unpacked, so nothing can be made to be written elsewhere.

Contents are read when they are asked for, and as far as the budget goes. What is no file (links, pipes, devices,
encrypted members) is listed as such, and cannot be read. Paths that leave the archive are refused.
"""

from __future__ import annotations

import errno
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, NamedTuple

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


def entries(root: Path, budget: Budget, base: Path | None = None) -> list[Entry]:
    """All files of a folder or zip; a file alone is a list of one. base: the folder of the class, which is trusted."""
    base = base or root.parent
    if (root.is_symlink() and root != base) or not root.is_dir():
        if kind(root.lstat().st_mode) == FILE:
            stream = open_below(base, root.relative_to(base).parts)
            if zipfile.is_zipfile(stream):
                return members(stream, budget)
            stream.close()
        return [_entry(root, (root.name,), budget, base)]
    return [_entry(file, file.relative_to(root).parts or (root.name,), budget, base) for file in walk(root, budget)]


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


def open_below(base: Path, parts: tuple[str, ...]) -> BinaryIO:
    """A regular file below a trusted folder. No link on the way is followed, and no pipe waited for.

    Not even one that was put there after somebody looked: where the system has it, each folder is opened from the one
    above, and what was opened is asked what it is.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    if (what := kind(base.joinpath(*parts).lstat().st_mode)) != FILE:
        raise Unsafe(f"{path_of(parts)} is {what}")
    if os.open not in os.supports_dir_fd:
        return open(os.open(base.joinpath(*parts), flags), "rb")
    here = os.open(base, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            above, here = here, os.open(part, flags | os.O_DIRECTORY, dir_fd=here)
            os.close(above)
        stream = os.fdopen(os.open(parts[-1], flags, dir_fd=here), "rb")
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise Unsafe(f"a folder or file on the way to {path_of(parts)} is a link") from error
        raise
    finally:
        os.close(here)
    if (what := kind(os.fstat(stream.fileno()).st_mode)) != FILE:
        stream.close()
        raise Unsafe(f"{path_of(parts)} is {what}")
    return stream


def _entry(file: Path, path: tuple[str, ...], budget: Budget, base: Path) -> Entry:
    found = file.lstat()

    def read(most: int) -> bytes:
        with open_below(base, file.relative_to(base).parts) as stream:
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
