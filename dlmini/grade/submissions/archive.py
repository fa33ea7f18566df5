"""Files of a folder or a zip, as a list. Nothing is ever unpacked, so nothing can be made to be written elsewhere.

Links, devices and encrypted members are left out, paths that leave the archive are refused, and bombs are stopped by
counting what really comes out, not what the archive claims.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

COUNT, SIZE, NESTED = 20_000, 256 << 20, 2  # members of an archive; bytes out of it; archives inside archives
MEMBER = 32 << 20  # bytes of one member: what is larger is neither program nor notebook


class Unsafe(ValueError):
    """An archive that no honest program writes."""


class Entry(NamedTuple):
    """A file: its path inside the submission (parts), and how to read it."""

    path: tuple[str, ...]
    read: Callable[[], bytes]


def entries(root: Path, depth: int = 0) -> list[Entry]:
    """All files of a folder or zip; zips inside are opened."""
    if root.is_dir():
        found = [Entry(file.relative_to(root).parts, _reader(file)) for file in walk(root)]
    elif zipfile.is_zipfile(root):
        with zipfile.ZipFile(root) as opened:
            found = members(opened)
    else:
        raise ValueError(f"{root} is neither a folder nor a zip of submissions")
    return opened_up(found, depth)


def walk(root: Path) -> list[Path]:
    """Regular files, in order; links are neither followed nor listed."""
    found = []
    for folder, folders, files in os.walk(root, followlinks=False):
        folders.sort()
        found += [Path(folder, f) for f in sorted(files) if stat.S_ISREG(Path(folder, f).lstat().st_mode)]
        if len(found) > COUNT:
            raise Unsafe(f"{root} holds more than {COUNT} files")
    return found


def _reader(file: Path) -> Callable[[], bytes]:
    def read() -> bytes:
        with open(
            os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)), "rb"
        ) as opened:
            return opened.read(MEMBER + 1)

    return read


def members(opened: zipfile.ZipFile) -> list[Entry]:
    """Members of an open zip, read at once and counted while they come out."""
    infos = opened.infolist()
    if len(infos) > COUNT:
        raise Unsafe(f"the archive has {len(infos)} members, more than {COUNT}")
    found, left = [], SIZE
    for info in infos:
        path = safe(name_of(info))
        if info.is_dir() or stat.S_ISLNK(info.external_attr >> 16) or info.flag_bits & 1:
            continue
        try:
            with opened.open(info) as member:
                data = member.read(MEMBER + 1)
        except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError) as error:
            raise Unsafe(f"{'/'.join(path)} cannot be read: {error}") from error
        left -= len(data)
        if left < 0:
            raise Unsafe(f"the archive grows to more than {SIZE} bytes")
        if len(data) <= MEMBER:
            found.append(Entry(path, lambda data=data: data))
    return found


def name_of(info: zipfile.ZipInfo) -> str:
    """Archives without the UTF-8 flag: UTF-8 nevertheless, or the code page of Russian DOS and Windows."""
    if info.flag_bits & 0x800:
        return info.filename
    raw = info.filename.encode("cp437", "replace")
    if raw.isascii():
        return info.filename
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("cp866")


def safe(name: str) -> tuple[str, ...]:
    """Parts of a relative path that stays inside."""
    name = name.replace("\\", "/")
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or ":" in name or "\0" in name:
        raise Unsafe(f"the archive names {name!r}, which lies outside it")
    return path.parts


def opened_up(found: list[Entry], depth: int) -> list[Entry]:
    """Zips among the files, replaced by what they hold: a folder of the same name."""
    out = []
    for entry in found:
        if not entry.path[-1].lower().endswith(".zip") or depth >= NESTED:
            out.append(entry)
            continue
        folder = (*entry.path[:-1], entry.path[-1][:-4])
        try:
            with zipfile.ZipFile(io.BytesIO(entry.read())) as inner:
                out += [Entry((*folder, *e.path), e.read) for e in opened_up(members(inner), depth + 1)]
        except (Unsafe, zipfile.BadZipFile) as error:
            out.append(Entry((*folder, "unsafe archive"), lambda why=str(error): why.encode()))
    return out
