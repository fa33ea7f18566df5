"""How a process waits: what the waiting kernels need to know about this rank and this machine."""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from functools import cache

import numpy as np

from dlmini.comm.processes.kernels import shared_words as board
from dlmini.comm.processes.shared_area import Commons

SPINS, YIELDS = 2000, 200  # looks a breath apart, then looks with the core given away in between
NAP = 20_000_000  # nanoseconds: the longest sleep without a look at the board
NUMBERS = {"x86_64": (202, 203, 309), "aarch64": (98, 122, 168), "riscv64": (98, 122, 168)}  # of Linux's system calls


def cores() -> list[int]:
    """The processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def habits(rank: int, commons: Commons, run: int, available: int) -> np.ndarray:
    """The words a rank keeps for itself. Spinning helps only where every rank has a core of its own."""
    words = np.zeros(board.HABITS, np.int64)
    words[[board.RANK, board.SIZE, board.RUN]] = rank, commons.size, run
    words[[board.SLOTS, board.BLOCK]] = commons.slots, commons.block
    words[[board.SLABS, board.CELLS]] = commons.slabs, commons.cells
    words[[board.SPIN, board.YIELDS]] = SPINS if commons.size <= available else 0, YIELDS
    for where, value in system_calls().items():
        words[where] = value
    words[board.NANOSECONDS] = NAP
    for core in cores():
        if core < 64 * board.MASK:
            words[board.ALLOWED + core // 64] |= np.uint64(1 << core % 64).astype(np.int64)
    return words


@cache
def system_calls() -> dict[int, int]:
    """Addresses of the functions that give a core away and that sleep, and how long; Linux's system calls."""
    if sys.platform == "win32":
        system = ctypes.WinDLL("kernel32")
        return {board.YIELD: address(system.SwitchToThread), board.SLEEP: address(system.Sleep), board.NAP: 1}
    system = ctypes.CDLL(None)
    found = {board.YIELD: address(system.sched_yield), board.SLEEP: address(system.usleep), board.NAP: 200}
    if sys.platform == "linux":
        numbers = zip((board.FUTEX, board.SETAFFINITY, board.GETCPU), NUMBERS.get(platform.machine(), ()), strict=False)
        found |= {board.SYSCALL: address(system.syscall), **dict(numbers)}
    return found


def address(function) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value
