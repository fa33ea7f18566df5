"""How a worker ends: with its parent, whatever happens to that; and, if it crashes, not without last words."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import threading

import multiprocess
from multiprocess import connection

ORPHANED = 3  # the exit code of a worker whose parent is gone
WORDS = 0.2  # seconds for a fault handler to write where its process is


def die_with_parent() -> None:
    """End when the parent does, however it ends, even while compiled code runs. Ctrl-C is the parent's business.

    On Linux the system itself signals us when the parent's end of a pipe closes, and the signal's default is to end the
    process: no Python code needs to run. Elsewhere a thread waits for it; kernels are compiled to let threads run.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gone = multiprocess.parent_process().sentinel
    if sys.platform == "linux":
        import fcntl

        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(gone, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(gone, fcntl.F_SETFL, fcntl.fcntl(gone, fcntl.F_GETFL) | os.O_ASYNC)
        if connection.wait([gone], 0):  # it was gone before we asked
            os._exit(ORPHANED)
    else:
        threading.Thread(target=lambda: (connection.wait([gone]), os._exit(ORPHANED)), daemon=True).start()


def leave_last_words(pipe) -> None:
    """A crash, or the parent's SIGUSR1, writes down where Python is, even while compiled code runs."""
    if pipe is not None:
        faulthandler.enable(pipe.fileno(), all_threads=False)
        faulthandler.register(signal.SIGUSR1, pipe.fileno(), all_threads=False)


# ---- seen from the parent; where there is no fault handler, the pipe is None ----


def ask_last_words(pipe, process: int) -> None:
    """Let the fault handler of a process that does not answer write where it is."""
    if pipe is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGUSR1)


def last_words(pipe) -> str:
    """What a fault handler wrote, line by line: where Python was."""
    found = b""
    while pipe is not None and connection.wait([pipe], WORDS / 10 if found else WORDS):
        if not (more := os.read(pipe.fileno(), 2**16)):
            break
        found += more
    return found.decode(errors="replace")
