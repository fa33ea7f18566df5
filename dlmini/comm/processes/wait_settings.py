"""How a process waits: what the waiting kernels need to know about this rank and this machine."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from functools import cache

import numpy as np

from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.shared_area import SharedArea

SPINS, YIELDS = 2000, 200  # looks a breath apart, then looks with the core given away in between
NAP = 20_000_000  # nanoseconds: the longest sleep without a look at the board
NUMBERS = {"x86_64": (202, 203, 309), "aarch64": (98, 122, 168), "riscv64": (98, 122, 168)}  # of Linux's system calls


def cores() -> list[int]:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def wait_settings(rank: int, area: SharedArea, run: int, available: int) -> np.ndarray:
    """The words a rank keeps for itself. Spinning helps only where every rank has a core of its own."""
    words = np.zeros(layout.SETTINGS, np.int64)
    words[[layout.RANK, layout.SIZE, layout.RUN]] = rank, area.size, run
    words[[layout.SLOTS, layout.BLOCK]] = area.slots, area.block
    words[[layout.SLABS, layout.CELLS]] = area.slabs, area.cells
    words[[layout.SPIN, layout.YIELDS]] = SPINS if area.size <= available else 0, YIELDS
    for where, value in system_calls().items():
        words[where] = value
    words[layout.NANOSECONDS] = NAP
    for core in cores():
        if core < 64 * layout.MASK:
            words[layout.ALLOWED + core // 64] |= np.uint64(1 << core % 64).astype(np.int64)
    return words


@cache
def system_calls() -> dict[int, int]:
    """Addresses of the functions that give a core away and that sleep, and how long; Linux's system calls."""
    if sys.platform == "win32":
        system = ctypes.WinDLL("kernel32")
        return {layout.YIELD: address(system.SwitchToThread), layout.SLEEP: address(system.Sleep), layout.NAP: 1}
    system = ctypes.CDLL(None)
    found = {layout.YIELD: address(system.sched_yield), layout.SLEEP: address(system.usleep), layout.NAP: 200}
    if sys.platform == "linux":
        numbers = zip(
            (layout.FUTEX, layout.SETAFFINITY, layout.GETCPU), NUMBERS.get(platform.machine(), ()), strict=False
        )
        found |= {layout.SYSCALL: address(system.syscall), **dict(numbers)}
    return found


def address(function) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value
