"""Memory that processes of one machine share: made by one, mapped by the others, and never left behind.

On Linux it is a file in /dev/shm, elsewhere one in the temporary folder, on Windows a name for pages of the swap file.
The name, dlmini-<pid>-<start of that process>-<number>, says whose it is. It is unlinked as soon as all have mapped it,
so that not even kill -9 leaves anything. What dies in the moment before is swept up by whoever starts next.

The space is reserved when the file is made: a mount that is too small (64 MB in many containers) is noticed then, not
later by a bus error. Smaller buffers are tried first, then the temporary folder.
"""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import psutil

PREFIX = "dlmini-"
SHM = Path("/dev/shm")
_numbers = count()


class Segment:
    """A piece of shared memory: `memory` is its mmap, `name` what others `attach` it by."""

    def __init__(self, name: str, memory: mmap.mmap, lock: int | None = None):
        self.name, self.memory, self.lock = name, memory, lock

    def unlink(self) -> None:
        """Take the name away; the memory lives on in those who have mapped it."""
        if self.lock is not None:
            Path(self.name).unlink(missing_ok=True)
            os.close(self.lock)
            self.lock = None


def create(nbytes: Callable[[int], int]) -> tuple[Segment, int]:
    """A segment of nbytes(scale) bytes, for the largest scale of 16, 4, 1 that fits somewhere; and that scale."""
    sweep()
    if sys.platform == "win32":
        name = fresh_name()
        return Segment(name, mmap.mmap(-1, nbytes(16), tagname=name)), 16
    for folder, scale in [(folder, scale) for folder in folders() for scale in (16, 4, 1)]:
        path = folder / fresh_name()
        lock = reserve(path, nbytes(scale))
        if lock is not None:
            return Segment(str(path), mmap.mmap(lock, nbytes(scale)), lock), scale
    raise MemoryError(
        f"ranks need {nbytes(1) / 2**20:.1f} MB of shared memory, and neither of {', '.join(map(str, folders()))} has "
        "so much left; free some space there, start a container with a larger --shm-size, or use fewer ranks"
    )


def attach(name: str, nbytes: int) -> Segment:
    """Map what another process has made."""
    if sys.platform == "win32":
        return Segment(name, mmap.mmap(-1, nbytes, tagname=name))
    descriptor = os.open(name, os.O_RDWR)
    try:
        return Segment(name, mmap.mmap(descriptor, nbytes))
    finally:
        os.close(descriptor)


def folders() -> list[Path]:
    """Where segments may lie, best first."""
    places = [SHM, Path(tempfile.gettempdir())]
    return [place for place in places if place.is_dir() and os.access(place, os.W_OK)]


def fresh_name() -> str:
    return f"{PREFIX}{os.getpid()}-{started(os.getpid())}-{next(_numbers)}"


def reserve(path: Path, nbytes: int) -> int | None:
    """Make the file with all its space, locked while its owner lives: its descriptor, or None if there is no room."""
    import fcntl

    room = os.statvfs(path.parent)
    if room.f_bavail * room.f_frsize < nbytes:
        return None
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        fill(descriptor, nbytes)
    except OSError:
        path.unlink()
        os.close(descriptor)
        return None
    return descriptor


def fill(descriptor: int, nbytes: int) -> None:
    """Zeros to the end, so that every page exists."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, nbytes)
    else:
        zeros = bytes(2**20)
        for at in range(0, nbytes, len(zeros)):
            os.write(descriptor, zeros[: nbytes - at])


def sweep() -> list[str]:
    """Remove segments whose owners are gone, and say which."""
    return [str(path) for path in leftovers() if is_stale(path) and not path.unlink(missing_ok=True)]


def leftovers() -> Iterator[Path]:
    """Every segment that still has a name."""
    for folder in folders() if sys.platform != "win32" else ():
        yield from folder.glob(f"{PREFIX}*-*-*")


def is_stale(path: Path) -> bool:
    """The owner is gone: its pid is free or used again, and (it may live in another container) its lock is gone too."""
    pid, start, number = path.name.removeprefix(PREFIX).split("-")[:3]
    if not (pid.isdigit() and start.isdigit() and number.isdigit()) or started(int(pid)) == int(start):
        return False
    return not is_locked(path)


def is_locked(path: Path) -> bool:
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    except PermissionError:
        return True  # somebody else's: not ours to remove
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def started(pid: int) -> int | None:
    """When the process began, so that a pid used again is told apart; None if there is no such process.

    On Linux in ticks since boot, which no change of the clock can move; elsewhere in seconds.
    """
    if sys.platform == "linux":
        try:
            state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            return None
        return None if state == "Z" else int(fields[18])
    try:
        return int(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return None
    except psutil.AccessDenied:  # somebody else's process, on macOS or Windows: its lock will tell
        return -1
