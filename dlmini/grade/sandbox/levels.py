"""Levels of containment, strongest first, and which one this machine offers.

bwrap    namespaces by bubblewrap: no network, a read-only file system that shows the interpreter and NumPy and
         nothing else (no tests, no submissions, no library), processes that end with their host. Under root each
         runner has its own user id.
rlimit   the kernel's limits on time, memory, processes and files; where it also offers namespaces, Landlock and
         seccomp, and Linux today does, no network, no writing, no signals to others, and no reading but of interpreter
         and NumPy. macOS has the limits only.
none     a time limit and nothing else (Windows).

What is really closed is tried out before grading: protections.py.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dlmini.grade.sandbox import landlock
from dlmini.grade.sandbox.limits import Limits
from dlmini.grade.sandbox.visible_files import (
    PATH,
    SYSTEM,
    above,
    covered,
    hidden,
    interpreter,
    packages_of,
    passable,
    readable,
    runner_files,
    shown,
)

BOOT = f"import sys; sys.path[:0] = {PATH!r}; from dlmini.grade.runner.host import main; main()"
ARGV = [sys.executable, "-I", "-B", "-c", BOOT]
ONE = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"], "1")
ENVIRONMENT = {**ONE, "LANG": "C.UTF-8", "HOME": "/tmp", "PYTHONHASHSEED": "0"}
_uids = itertools.count(1_000_000 + 1000 * os.getpid())  # of runners under root: one each, so that each is counted


def settings(limits: Limits, processes=None, uid=None, unshare=False, filtered=True, mounted=False) -> dict:
    """What a runner is told before anything else.

    processes: for the kernel, which counts all of a user's; uid: the user to become; unshare: enter namespaces;
    filtered: forbid calls of the kernel that no exercise needs; mounted: files are out of reach already.
    """
    told = {"limits": limits.as_dict(), "processes": processes, "uid": uid, "unshare": unshare}
    return {**told, "filter": filtered, "mounted": mounted}


@dataclass(frozen=True)
class Bwrap:
    name = "bwrap"
    grouped = True  # whether the kernel is asked to count memory, where it can be
    warning = ""

    def command(self, limits: Limits) -> list[str]:
        """As root the mounts are made by root and the runner then drops to a user id of its own."""
        seen = [p for p in dict.fromkeys([*SYSTEM, *interpreter()]) if Path(p).exists()]
        inner = [*packages_of(limits.packages), *runner_files()]
        users = ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if is_root() else ["--unshare-user"]
        spaces = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
        return [
            *("bwrap", "--die-with-parent", "--new-session", "--as-pid-1", *spaces, "--cap-drop", "ALL", *users),
            *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"),
            *(word for folder in above([*seen, *map(str, covered())]) for word in ("--perms", "0755", "--dir", folder)),
            *(word for path in seen for word in ("--ro-bind", path, path)),
            *(word for place in covered() for word in ("--perms", "0755", "--tmpfs", str(place))),
            *(word for folder in inside(covered(), inner) for word in ("--perms", "0755", "--dir", folder)),
            *(word for path in inner for word in ("--ro-bind", path, path)),
            *(word for place in covered() for word in ("--remount-ro", str(place))),
            *("--remount-ro", "/dev", "--remount-ro", "/tmp", "--remount-ro", "/", "--chdir", "/tmp", "--", *ARGV),
        ]

    def settings(self, limits: Limits) -> dict:
        uid = next(_uids) if is_root() else None
        return settings(limits, limits.processes, uid, mounted=True)


@dataclass(frozen=True)
class Rlimit:
    """The fields are there to see what is left without a part of it."""

    namespaces: bool = True
    landlock: bool = True
    seccomp: bool = True
    name = "rlimit"
    grouped = True
    warning = (
        "bubblewrap is not in force: submissions are held by limits on time, memory, processes and files, and by what "
        "else this system offers (Linux: namespaces, Landlock, seccomp; macOS: nothing)."
    )

    def command(self, limits: Limits) -> list[str]:
        return list(ARGV)

    def settings(self, limits: Limits) -> dict:
        """Root lets a runner drop to a user id of its own, unless the interpreter lies where others may not go."""
        uid = next(_uids) if is_root() and all(map(passable, shown(limits.packages))) else None
        processes = limits.processes + (mine() if uid is None else 0)
        by_rules = self.landlock and landlock.version()
        files = readable(limits.packages) if by_rules else {"hide": hidden(limits.packages)}
        return settings(limits, processes, uid, self.namespaces, self.seccomp) | files


@dataclass(frozen=True)
class Own(Rlimit):
    """For one's own program: the same, but without counting the user's other processes, which takes time."""

    grouped = False

    def settings(self, limits: Limits) -> dict:
        return settings(limits, unshare=True, filtered=False)


@dataclass(frozen=True)
class Bare:
    name = "none"
    grouped = False
    warning = "this system offers no limits: only a time limit holds. Grade only what you trust, or grade on Linux."

    def command(self, limits: Limits) -> list[str]:
        return list(ARGV)

    def settings(self, limits: Limits) -> dict:
        return settings(limits, filtered=False)


LEVELS = {"bwrap": Bwrap, "rlimit": Rlimit, "none": Bare}


def choose(name: str = "auto"):
    """The level of this name; auto and strict: the strongest that works here."""
    if name in ("auto", "strict"):
        return Bwrap() if works() else Rlimit() if os.name == "posix" else Bare()
    if name not in LEVELS:
        raise ValueError(f"--sandbox {name} is unknown; use auto, strict, {', '.join(LEVELS)}")
    if name == "bwrap" and not works():
        raise ValueError(
            "bubblewrap does not work here: install it, and allow user namespaces; or use --sandbox rlimit"
        )
    if name == "rlimit" and os.name != "posix":
        raise ValueError("--sandbox rlimit needs Linux or macOS; here only --sandbox none is to be had")
    return LEVELS[name]()


@cache
def works() -> bool:
    """Does bubblewrap start a Python here?"""
    if not shutil.which("bwrap"):
        return False
    command = [*Bwrap().command(Limits())[: -len(ARGV)], sys.executable, "-I", "-c", "pass"]
    return not subprocess.run(command, capture_output=True, timeout=60, env=ENVIRONMENT).returncode


def inside(places: tuple[Path, ...], paths: list[str]) -> list[str]:
    """Folders on the way to these paths that lie in one of the places, which are empty at first."""
    return [folder for folder in above(paths) if set(places) & set(Path(folder).parents)]


def is_root() -> bool:
    return hasattr(os, "getuid") and os.getuid() == 0


def mine() -> int:
    """Threads of this user's processes: the kernel's limit counts them too."""
    import psutil

    me, found = os.getuid(), 0
    for process in psutil.process_iter(["uids", "num_threads"]):
        uids = process.info["uids"]
        found += (process.info["num_threads"] or 1) if uids and uids.real == me else 0
    return found
