"""Control groups: the kernel itself limits what all processes of a submission hold together, without a look in between.

A group is a folder below that of the judge; cgroups(7). Version 1 takes groups in groups as they come. In version 2 a
group with processes has none below it, so a neighbour of the judge's own is made, where memory is told apart there.

The tree of groups belongs to whoever runs the machine or the container, even where root could write to it. So groups
are made only in a part that was handed over: one that systemd marks as delegated (systemd-run --user --scope -p
Delegate=yes dlmini grade ...), or the one that DLMINI_CGROUP names. Everywhere else memory_watch.py looks.
"""

from __future__ import annotations

import atexit
import itertools
import os
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

PREFIX, MARKS = "dlmini-grade", ("user.delegate", "trusted.delegate")
V1, V2 = ("memory.limit_in_bytes", "memory.oom_control"), ("memory.max", "memory.events")  # limit; who was ended
_number, _left, _closed = itertools.count(), set(), set()  # folders that are there; those of them that are to go


class MemoryGroup:
    """Holds processes; `close` when they have ended. One that cannot be removed yet is removed later."""

    def __init__(self, folder: Path, most: int):
        """OSError, if this system does not let us."""
        self.folder, self.told = folder, 0
        folder.mkdir()
        _left.add(folder)
        self.limit, self.events = next((v for v in (V2, V1) if (folder / v[0]).exists()), (None, None))
        try:
            if self.limit is None:
                raise OSError(f"{folder} has no limit of memory")
            (folder / self.limit).write_text(str(most))
            for name, value in (("memory.swap.max", 0), ("memory.memsw.limit_in_bytes", most)):
                with suppress(OSError):  # where nothing is swapped there is nothing to forbid
                    if (folder / name).exists():
                        (folder / name).write_text(str(value))
        except OSError:
            self.close()
            raise

    def take(self, pids: list[int]) -> None:
        """From now on what these processes, and all they start, take in addition counts here."""
        for pid in pids:
            with suppress(ProcessLookupError):
                (self.folder / "cgroup.procs").write_text(str(pid))

    def ended(self) -> bool:
        """Whether the kernel has ended a process for lack of memory, since this was asked last."""
        try:
            words = dict(line.split()[:2] for line in (self.folder / self.events).read_text().splitlines())
            count = int(words.get("oom_kill", 0))
        except (OSError, ValueError):
            return False
        before, self.told = self.told, count
        return count > before

    def close(self) -> None:
        """And those before it that could not go then. Those of other submissions, empty until a runner is up, stay."""
        _closed.add(self.folder)
        for folder in list(_closed):
            removed(folder, 0.5 if folder == self.folder else 0.0)


def removed(folder: Path, patience: float) -> bool:
    """A group is empty a moment after its last process has ended."""
    until = time.monotonic() + patience
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            pass
        except OSError:
            if time.monotonic() < until:
                time.sleep(0.01)
                continue
            return False
        _left.discard(folder)
        _closed.discard(folder)
        return True


def group_of(most: int) -> MemoryGroup | None:
    """A new group with this limit, in bytes; None where that cannot be done."""
    if (place := home()) is None:
        return None
    try:
        return MemoryGroup(place / f"{PREFIX}-{os.getpid()}-{next(_number)}", most)
    except OSError:
        return None


@cache
def home() -> Path | None:
    """Where groups can be made. What judges that were killed have left there is removed."""
    named = os.environ.get("DLMINI_CGROUP")
    for place in [Path(named)] if named else filter(handed_over, homes(Path("/proc/self"))):
        with suppress(OSError):
            for folder in place.glob(f"{PREFIX}-*-*"):
                if not Path(f"/proc/{folder.name.split('-')[2]}").exists():
                    folder.rmdir()
            if os.access(place, os.W_OK):
                return place
    return None


def homes(process: Path) -> list[Path]:
    """Groups under which others may be made, by what /proc tells of a process: its groups, and where they are mounted.

    proc(5): mountinfo has a line per mount: ..., root, place, options, ... - kind, source, options of the whole.
    """
    try:
        rows = [line.split(":", 2) for line in (process / "cgroup").read_text().splitlines()]
        mounts = [line.split() for line in (process / "mountinfo").read_text().splitlines()]
    except OSError:
        return []
    mine = {name: path for _, names, path in rows for name in names.split(",")}
    found = []
    for words in mounts:
        root, place, (kind, _, options) = words[3], Path(words[4]), words[words.index("-") + 1 :][:3]
        if kind == "cgroup" and "memory" in options.split(",") and "memory" in mine:
            found += [here for here in [below(place, root, mine["memory"])] if here]
        elif kind == "cgroup2" and "" in mine and (here := below(place, root, mine[""])):
            found += [one for one in (here, here.parent) if tells_memory_apart(one)]
    return found


def below(place: Path, root: str, path: str) -> Path | None:
    """The folder of a group; root: which group the mount shows as its top."""
    try:
        here = place / Path(path).relative_to(root)
    except ValueError:
        return None
    return here if here.is_dir() else None


def tells_memory_apart(group: Path) -> bool:
    try:
        return "memory" in (group / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False


def handed_over(group: Path) -> bool:
    """Whether systemd has marked this group, or one around it, as somebody else's to divide: Delegate=yes."""
    return any(_mark(place, name) for place in (group, *group.parents) for name in MARKS)


def _mark(place: Path, name: str) -> bool:
    try:
        return os.getxattr(place, name) == b"1"
    except (OSError, AttributeError):  # macOS has no such call
        return False


@atexit.register
def _remove() -> None:
    for folder in list(_left):
        removed(folder, 0.0)
