"""Large payloads in parts, and the memory they lie in."""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

FIRST, MOST = 1 << 16, 1 << 30  # bytes of the first part, and of any part at most: MPI counts in C's int
PAGE = 4096


def cut(payload) -> list[np.ndarray]:
    """A payload's bytes in parts, each twice as long as the one before: few, and the first is soon copied."""
    whole = payload.reshape(-1).view(np.uint8) if isinstance(payload, np.ndarray) else np.frombuffer(payload, np.uint8)
    at, size, found = 0, min(FIRST, MOST), []
    while at < len(whole):
        found.append(whole[at : at + size])
        at, size = at + size, min(2 * size, MOST)
    return found


def copied(part: np.ndarray) -> np.ndarray:
    copy = placed(len(part), PAGE // 2)
    copy[:] = part
    return copy


def placed(nbytes: int, offset: int) -> np.ndarray:
    """Memory that begins so far behind the start of a page.

    Arrays begin with a page and copies in its middle: some processors copy ten times slower between places that lie at
    nearly the same distance from one (glibc's bug 30994), and all are slower where lines of the cache are cut.
    """
    memory = np.empty(nbytes + PAGE, np.uint8)
    begin = (offset - MPI.Get_address(memory)) % PAGE
    return memory[begin : begin + nbytes]
