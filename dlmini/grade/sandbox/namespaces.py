"""Namespaces without a helper program: no network, no other processes, a file system that cannot be written.

What `bwrap` does better, done by the runner itself where `bwrap` is missing. Root enters them as root and then becomes
somebody else; others need user namespaces. Each step is tried; a system that forbids it leaves the process as it was.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from dlmini.grade.sandbox.child_processes import LOOK, die_with_parent

USER, PID, NET, IPC, MOUNT = 0x10000000, 0x20000000, 0x40000000, 0x08000000, 0x00020000  # CLONE_NEW..., <linux/sched.h>
MOUNT_SETATTR, AT_FDCWD, RECURSIVE = 442, -100, 0x8000  # the call's number on every architecture but alpha
READ_ONLY, PRIVATE, ALL = 1, 1 << 18, 1 << 14  # MOUNT_ATTR_RDONLY, MS_PRIVATE, MS_REC
NO_PROGRAMS = 2 | 4 | 8  # MS_NOSUID, MS_NODEV, MS_NOEXEC
CAPABILITIES = 0x20080522  # _LINUX_CAPABILITY_VERSION_3, capset(2)
READ_ALL = 1 << 2  # CAP_DAC_READ_SEARCH: an interpreter may lie in somebody's home


def unshared(pipes, uid: int | None, hide: list[str]) -> bool:
    """Go on in namespaces of one's own, as process 1 of them; the process that was called stays behind and waits.

    uid: whom to become, if one is root now; hide: folders in which there is nothing to be seen from then on.
    """
    entered = _enter(pipes, USER if uid is None else 0, hide) if sys.platform == "linux" else False
    become(uid)
    if entered:
        die_with_parent()  # which a change of user takes back
    return entered


def become(uid: int | None) -> None:
    """Give up being root, if one is to."""
    if uid is not None:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)


def _enter(pipes, user: int, hide: list[str]) -> bool:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(user | PID | NET | IPC | MOUNT):
        return False
    libc.mount(None, b"/", None, ALL | PRIVATE, None)  # what is mounted from here on is seen here alone
    for folder in hide:
        libc.mount(b"none", os.fsencode(folder), b"tmpfs", NO_PROGRAMS, b"size=4k,mode=555")
    attributes = (ctypes.c_uint64 * 4)(READ_ONLY, 0, PRIVATE, 0)  # struct mount_attr: set, clear, propagation, userns
    libc.syscall(MOUNT_SETATTR, AT_FDCWD, b"/", RECURSIVE, attributes, ctypes.sizeof(attributes))
    inner = os.fork()
    if inner:
        wait_outside(pipes, inner)
    die_with_parent()
    libc.mount(b"proc", b"/proc", b"proc", NO_PROGRAMS, None)  # which shows the processes of this namespace alone
    return True


def wait_outside(pipes, inner: int) -> None:
    """Until the inner process has ended; and if the judge is gone, end it, and with it all of its namespace."""
    os.close(pipes.out)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while not os.waitpid(inner, os.WNOHANG)[0]:
        if pipes.hung_up():
            os.kill(inner, signal.SIGKILL)
        signal.sigtimedwait({signal.SIGCHLD}, LOOK)
    os._exit(0)


def drop_capabilities() -> None:
    """Give up what a user namespace grants over its own mounts, and what makes root more than the owner of its files:
    to raise limits and priorities, to become others, to change what is theirs.
    """
    if sys.platform == "linux":
        head, kept = (ctypes.c_uint32 * 2)(CAPABILITIES, 0), 0 if os.getuid() else READ_ALL
        ctypes.CDLL(None, use_errno=True).capset(head, (ctypes.c_uint32 * 6)(kept, kept))
