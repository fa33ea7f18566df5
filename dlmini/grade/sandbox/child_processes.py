"""Processes that a case has left behind, ended by their host."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

LOOK = 0.05  # seconds between two looks at how many processes there are
DEATH = 1  # PR_SET_PDEATHSIG
DUMPABLE = 4  # PR_SET_DUMPABLE
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, <linux/prctl.h>: orphans of my descendants become my children


def adopt() -> None:
    """Become the parent of every orphan below, where the system knows how. Process 1 of a namespace is that anyway."""
    if sys.platform == "linux" and os.getpid() != 1:
        ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Be killed when the parent ends, however that comes. A change of user id takes this back, so call it after one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DEATH, signal.SIGKILL, 0, 0, 0)


def be_private() -> None:
    """Let no process of the same user look into this one or its pipes, not even its own children."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DUMPABLE, 0, 0, 0, 0)


def outlast(pid: int, most: int, hung_up) -> tuple:
    """Wait for a child; end it if the judge is gone. In a namespace of one's own, count its processes, too.

    If there are too many of them, all are ended. The kernel's own limit stops forks earlier, but it does not count
    processes of root.
    """
    alone = os.getpid() == 1 and os.readlink("/proc/self") == "1"
    while not (found := os.wait4(pid, os.WNOHANG))[0]:
        if hung_up():
            os.kill(pid, signal.SIGKILL)
        if alone and sum(map(str.isdigit, os.listdir("/proc"))) > most + 1:
            os.kill(-1, signal.SIGKILL)
        if hasattr(signal, "sigtimedwait"):
            signal.sigtimedwait({signal.SIGCHLD}, LOOK)
        else:  # macOS
            time.sleep(LOOK / 10)
    return found


def end_children(session: int) -> None:
    """Kill and bury until there is nobody: whoever loses its parent becomes a child of this process, and is next."""
    while True:
        for pid in (-session, *_children()):
            with suppress(ProcessLookupError, PermissionError):  # it has ended by itself, or is a zombie of others
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    if os.getpid() == 1:
        return [-1]  # all there are in this namespace, except the caller
    if sys.platform != "linux":
        return []
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _parent(pid) == os.getpid()]


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[1])
    except OSError:
        return 0
