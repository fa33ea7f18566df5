"""Zips as people's programs write them: names in old code pages, and names that only claim to be UTF-8."""

from __future__ import annotations

import io
import stat
import struct
import time
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from dlmini.files import DAMAGED
from dlmini.grade.reading.names import parts_of

BROKEN = (*DAMAGED, ArithmeticError)
END, CENTRAL, LOCAL = b"PK\5\6", b"PK\1\2", b"PK\3\4"  # signatures, APPNOTE.TXT 4.3
UTF8 = 0x800  # general purpose bit 11: the name is UTF-8
LARGEST = 256 << 20  # bytes of an archive whose names are mended in memory


class Named(NamedTuple):
    """A member of an archive, its name, and the parts of that."""

    info: zipfile.ZipInfo
    name: str
    parts: tuple[str, ...]


def opened(source) -> zipfile.ZipFile:
    """A path or a stream as an open zip. The zip of a class is asked for once for each hand-in, and stays open."""
    if not isinstance(source, Path):
        return _opened(source)
    found = source.stat()
    return _kept(source, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=1)
def listing(archive: zipfile.ZipFile) -> list[Named]:
    """All members with their names."""
    return [Named(info, name, parts_of(name)) for info in archive.infolist() for name in [name_of(info)]]


@lru_cache(maxsize=1)
def _kept(source: Path, time: int, size: int) -> zipfile.ZipFile:
    return _opened(source)


def _opened(source) -> zipfile.ZipFile:
    """Where a name claims to be UTF-8 and is not, the claim is taken back."""
    try:
        return zipfile.ZipFile(source)
    except UnicodeDecodeError:
        data = bytearray(source.read_bytes() if isinstance(source, Path) else whole(source))
        return zipfile.ZipFile(io.BytesIO(unclaimed(data)))


def whole(stream) -> bytes:
    stream.seek(0)
    return stream.read(LARGEST + 1)


def unclaimed(data: bytearray) -> bytearray:
    """The archive with the UTF-8 flag cleared in both headers of every member whose name is no UTF-8."""
    at = len(data)
    if at > LARGEST or (end := data.rfind(END)) < 0:
        raise ValueError("its names are no UTF-8")
    at = end - struct.unpack_from("<I", data, end + 12)[0]
    while data[at : at + 4] == CENTRAL:
        flags, sizes = struct.unpack_from("<H", data, at + 8)[0], struct.unpack_from("<3H", data, at + 28)
        local, name = struct.unpack_from("<I", data, at + 42)[0], bytes(data[at + 46 : at + 46 + sizes[0]])
        if flags & UTF8 and not is_utf8(name):
            struct.pack_into("<H", data, at + 8, flags & ~UTF8)
            if data[local : local + 4] == LOCAL:
                flags = struct.unpack_from("<H", data, local + 6)[0]
                struct.pack_into("<H", data, local + 6, flags & ~UTF8)
        at += 46 + sum(sizes)
    return data


def is_utf8(name: bytes) -> bool:
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def name_of(info: zipfile.ZipInfo) -> str:
    """Archives without the UTF-8 flag: UTF-8 nevertheless, or the code page of Russian DOS and Windows."""
    if info.flag_bits & UTF8:
        return info.filename
    raw = info.orig_filename.encode("cp437", "replace").partition(b"\0")[0]
    return raw.decode("utf-8" if is_utf8(raw) else "cp866")


def kind_of(info: zipfile.ZipInfo) -> str:
    """As `archive.kind`: what a member is."""
    mode = stat.S_IFMT(info.external_attr >> 16)
    if mode == stat.S_IFLNK:
        return "a link"
    if info.flag_bits & 1:
        return "encrypted"
    return "file" if mode in (0, stat.S_IFREG) else "a device"


def stamp(info: zipfile.ZipInfo) -> float:
    """When a member was changed, in seconds, by the clock of who packed it; 0 if that is no date."""
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return 0.0
