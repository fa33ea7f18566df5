"""seccomp: a process forbids itself, for ever, calls of the kernel that no exercise needs (Linux 3.5; no rights).

A filter is a small program of the Berkeley packet filter that sees a call's number and arguments; seccomp(2). What it
closes: the network, sockets of any kind but a connected pair, shared memory and queues (which would outlive a case),
locks and watches of files, notes on files and what the kernel keeps of them in memory (by which two processes that may
only read the same file could talk), other processes, mounts, modes, owners and times of files (of which Landlock knows
nothing), and, where nothing else forbids it, writing files. Calls whose arguments lie in memory, reading with flags,
and calls that are newer than this file, are answered with "no such call": the C library then takes the older one, which
can be looked at.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys

from dlmini.grade.sandbox import system_calls as calls

NO_NEW_PRIVILEGES, GET_SECCOMP, SET_SECCOMP, FILTER = 38, 21, 22, 2  # prctl(2)
LOAD, EQUAL, ATLEAST, ANY, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # <linux/bpf_common.h>
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000  # <linux/seccomp.h>
NUMBER, MACHINE, ARGUMENTS = 0, 4, 16  # where they stand in struct seccomp_data
NAMESPACES = 0x7E020000  # CLONE_NEW..., <linux/sched.h>
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_TMPFILE", 0) & ~os.O_DIRECTORY
# What one may do with an open file, and nothing else: locks, leases, owners of signals, hints that the kernel keeps for
# every reader of the file, and sizes that a pipe keeps for the next case carry what nobody weighs.
OWN_FILE = (0, 1, 2, 3, 4, 1030, 1032)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ
QUESTIONS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)  # about terminals and pipes: TCGETS, TCGETS2,
# TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX. Others change files that can only be read (FS_IOC_SETFLAGS).
PAIRS = (1, 0x801, 0x80001, 0x80801)  # SOCK_STREAM, with SOCK_NONBLOCK, SOCK_CLOEXEC: it can be sent nowhere else
# Advice about one's own memory: MADV_DONTNEED, FREE, DONTFORK, DOFORK, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP,
# WIPEONFORK, KEEPONFORK, GUARD_INSTALL, GUARD_REMOVE. The rest tells the kernel which pages of files to fetch or drop.
ADVICE = (4, 8, 10, 11, 14, 15, 16, 17, 18, 19, 102, 103)
Rows = list[tuple[int, int, int, int]]  # (what, jump if so, jump if not, value)


def known() -> bool:
    """Whether the kernel has filters, and this file the numbers of its calls."""
    has = sys.platform == "linux" and ctypes.CDLL(None, use_errno=True).prctl(GET_SECCOMP, 0, 0, 0, 0) >= 0
    return has and bool(calls.architecture())


def close(writing: bool = True) -> bool:
    """From now on this process and all below it are filtered. writing: files too. False where there is no filter."""
    if sys.platform != "linux" or not calls.architecture():
        return False
    rows = program(os.getpid(), writing)
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *row) for row in rows))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    whole = ctypes.create_string_buffer(struct.pack("@HP", len(rows), ctypes.addressof(code)))
    return not libc.prctl(SET_SECCOMP, FILTER, whole, 0, 0)


def program(pid: int, writing: bool) -> Rows:
    """The filter of the process with this number. Every row that concerns a call ends in an answer."""
    known = calls.numbers(calls.LOOKED_AT)
    always = calls.NETWORK, calls.SHARED, calls.CACHE, calls.OTHERS, calls.SYSTEM, calls.CHANGING
    denied = calls.numbers(*always, *([calls.WRITING] * writing))
    rows = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, calls.architecture()), answer(KILL), (LOAD, 0, 0, NUMBER)]
    rows += [(ATLEAST, 0, 1, calls.NEWEST + 1), refused(errno.ENOSYS)]  # and those of other kinds of programs
    for number in denied.values():
        rows += on(number, [refused()])
    for number in calls.numbers(calls.UNREADABLE).values():
        rows += on(number, [refused(errno.ENOSYS)])
    for name, checks in looked_at(pid, writing).items():
        if name in known:
            rows += on(known[name], checks)
    return [*rows, answer(ALLOW)]


def looked_at(pid: int, writing: bool) -> dict[str, Rows]:
    """Calls that are fine with some arguments: about oneself, without namespaces, for reading."""
    me = (0, pid)
    found = {"kill": only(0, (*me, -pid)), "tgkill": only(0, me), "prlimit64": only(0, me)}
    found |= {f"sched_set{what}": only(0, me) for what in ("affinity", "scheduler", "param", "attr")}
    found |= {"setpriority": [*unless(0, 0), *only(1, me)], "socketpair": only(1, PAIRS), "ioctl": only(1, QUESTIONS)}
    found |= {"fcntl": only(1, OWN_FILE), "madvise": only(2, ADVICE), "clone": without(0, NAMESPACES)}
    if writing:
        found |= {"open": without(1, WRITES), "openat": without(2, WRITES)}
    return found


# ---- rows ----


def answer(value: int) -> tuple[int, int, int, int]:
    return RETURN, 0, 0, value


def refused(number: int = errno.EPERM) -> tuple[int, int, int, int]:
    return answer(ERRNO | number)


def on(number: int, rows: Rows) -> Rows:
    """These rows, if it is this call."""
    return [(EQUAL, 0, len(rows), number), *rows]


def argument(place: int) -> tuple[int, int, int, int]:
    """The lower half of an argument: numbers of processes, commands and flags have no more."""
    return LOAD, 0, 0, ARGUMENTS + 8 * place + (4 if sys.byteorder == "big" else 0)


def only(place: int, values: tuple[int, ...]) -> Rows:
    return [argument(place), *(row for v in values for row in ((EQUAL, 0, 1, v % 2**32), answer(ALLOW))), refused()]


def unless(place: int, value: int) -> Rows:
    """Refused if it is another; else the rows that follow decide. For setpriority all but 0 means many processes."""
    return [argument(place), (EQUAL, 1, 0, value), refused()]


def without(place: int, flags: int) -> Rows:
    return [argument(place), (ANY, 0, 1, flags), refused(), answer(ALLOW)]
