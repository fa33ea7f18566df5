"""Landlock: a process forbids itself, for ever, all files but those it names (Linux 5.13 and later; no rights needed).

Three system calls, documented in landlock(7): make a set of rules, add a rule per folder, apply the set to oneself. All
processes started from then on are bound as well. Later versions also close TCP (4), and signals to and sockets of
processes that are not bound by the same rules (6).
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

CREATE, ADD, RESTRICT = 444, 445, 446  # numbers of the calls, equal on all architectures
NO_NEW_PRIVILEGES, BENEATH, VERSION = 38, 1, 1  # PR_SET_NO_NEW_PRIVS, LANDLOCK_RULE_PATH_BENEATH, ..._VERSION
EXECUTE, WRITE, READ, LIST = 1, 2, 4, 8  # LANDLOCK_ACCESS_FS_...
FIRST, REFER, TRUNCATE = (1 << 13) - 1, 1 << 13, 1 << 14  # what the first version knows; moving; shortening
TCP, OUTWARD = 3, 3  # LANDLOCK_ACCESS_NET_BIND_TCP and CONNECT_TCP; LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET and SIGNAL
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def version() -> int:
    """Which one the kernel has; 0: none."""
    if sys.platform != "linux":
        return 0
    return max(0, ctypes.CDLL(None, use_errno=True).syscall(CREATE, None, ctypes.c_size_t(0), VERSION))


def rules(read: list[str], listed: list[str]) -> int | None:
    """A set of rules: only read (and run) what is in `read`, and list folders in `listed`. None where it is unknown."""
    if not (known := version()):
        return None
    libc = ctypes.CDLL(None, use_errno=True)
    files = FIRST | (REFER if known >= 2 else 0) | (TRUNCATE if known >= 3 else 0)
    words = [files, *([TCP] if known >= 4 else []), *([OUTWARD] if known >= 6 else [])]
    made = libc.syscall(CREATE, struct.pack(f"={len(words)}Q", *words), ctypes.c_size_t(8 * len(words)), 0)
    if made < 0:
        return None
    for paths, access in ((read, EXECUTE | READ | LIST), (listed, LIST), (DEVICES, READ | WRITE)):
        for path in paths:
            _allow(libc, made, path, access)
    return made


def confine(made: int | None) -> bool:
    """From now on these rules hold. False if there are none, or if the kernel refuses."""
    if made is None:
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    done = not libc.syscall(RESTRICT, made, 0)
    os.close(made)
    return done


def _allow(libc, made: int, path: str, access: int) -> None:
    """A rule for a file may only speak of reading, writing and running."""
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no rule
    if not os.path.isdir(path):
        access &= EXECUTE | READ | WRITE
    libc.syscall(ADD, made, BENEATH, struct.pack("=Qi", access, folder), 0)
    os.close(folder)
