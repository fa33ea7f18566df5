"""Landlock: a process forbids itself, for ever, all files but those it names (Linux 5.13 and later; no rights needed).

Three system calls, documented in landlock(7): make a set of rules, add a rule per folder, apply the set to oneself. All
processes started from then on are bound as well.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

CREATE, ADD, RESTRICT = 444, 445, 446  # numbers of the calls, equal on all architectures
NO_NEW_PRIVILEGES, BENEATH = 38, 1  # PR_SET_NO_NEW_PRIVS, LANDLOCK_RULE_PATH_BENEATH
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8  # LANDLOCK_ACCESS_FS_...
ALL = (1 << 13) - 1  # with making and removing files of every kind: what the first version knows
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def confine(read: list[str], listed: list[str]) -> bool:
    """From now on only read (and run) what is in `read`, and list folders in `listed`. False where it is unknown."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    rules = libc.syscall(CREATE, struct.pack("=Q", ALL), ctypes.c_size_t(8), 0)
    if rules < 0:
        return False
    for paths, access in ((read, EXECUTE | READ | LIST), (listed, LIST), (DEVICES, READ | WRITE)):
        for path in paths:
            _allow(libc, rules, path, access)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    done = not libc.syscall(RESTRICT, rules, 0)
    os.close(rules)
    return done


def _allow(libc, rules: int, path: str, access: int) -> None:
    """A rule for a file may only speak of reading, writing and running."""
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    if not os.path.isdir(path):
        access &= EXECUTE | READ | WRITE
    libc.syscall(ADD, rules, BENEATH, struct.pack("=Qi", access, folder), 0)
    os.close(folder)
