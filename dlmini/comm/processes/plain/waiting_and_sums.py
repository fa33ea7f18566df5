"""The shared-memory kernels once more, readable: NumPy instead of loops, naps instead of bells, any numeric dtype.

Twins of kernels/waiting.py and kernels/summing.py, with the same names and signatures and the same bits. They also do
the real work for dtypes that nobody has compiled (integers, complex, half): then with the compiled `meet`.

NumPy has no memory barriers. On x86 none are missing: every core sees the writes of another in their order (total store
order), so who sees that a rank has arrived sees what it brought. ARM and others promise that only to `acquire` and
`release`, which the compiled kernels say and these twins cannot: there `check_order` refuses them.
"""

from __future__ import annotations

import platform
import time

import numpy as np

from dlmini import jit
from dlmini.comm.processes.kernels import layout

LOOKS, NAP = 100, 1e-4  # looks without a rest, then seconds between two


def check_order() -> None:
    """RuntimeError if processes would share memory through kernels without barriers, on a machine that needs them."""
    if jit.mode() != "numba" and not layout.X86:
        raise RuntimeError(
            f"DLMINI_KERNELS={jit.mode()} has no memory barriers, which processes need on {platform.machine()}; "
            "unset it to use the compiled kernels, or run on Simulated"
        )


def rest(tries: int) -> None:
    time.sleep(0 if tries < LOOKS else NAP)


def publish(board, settings, word, value, rank, wanted):
    board[word] = value


def enter(board, word, head, busy):
    clocks = board.view(np.float64)
    start = max(head, float(clocks[word]))
    clocks[word] = start + busy
    return start


def look(board, word):
    return int(board[word])


def watch(board, settings, watched, seen, count, naps):
    end, tries = time.perf_counter() + naps * settings[layout.NANOSECONDS] * 1e-9, 0
    while tries == 0 or time.perf_counter() < end:
        news = np.flatnonzero(board[watched[:count]] != seen[:count])
        if len(news):
            return int(news[0])
        if board[layout.ABORT] == settings[layout.RUN]:
            return layout.ABORTED
        rest(tries := tries + 1)
    return layout.NOTHING


def gather(board, settings):
    firsts = np.array([layout.rank_words(rank) for rank in range(settings[layout.SIZE])])
    board[firsts[settings[layout.RANK]] + layout.ARRIVED] += 1
    turn, tries = board[firsts[settings[layout.RANK]] + layout.ARRIVED], 0
    while len(absent := firsts[board[firsts + layout.ARRIVED] < turn]):
        if board[layout.ABORT] == settings[layout.RUN]:
            return layout.ABORTED
        gone = absent[abs(board[absent + layout.FINISHED]) == settings[layout.RUN]]
        if (board[gone + layout.ARRIVED] < turn).any():  # looked at again: one may have come and finished in between
            return layout.GONE
        rest(tries := tries + 1)
    return 0


def meet(board, settings, ticket, now):
    firsts = np.array([layout.rank_words(rank) for rank in range(settings[layout.SIZE])])
    stamps, mine = board.view(np.float64), firsts[settings[layout.RANK]]
    half = (board[mine + layout.ARRIVED] + 1) & 1
    board[mine + layout.TICKET + half], stamps[mine + layout.STAMP + half] = ticket, now
    verdict = gather(board, settings)
    if verdict < 0:
        return float(verdict)
    if (board[firsts + layout.TICKET + half] != ticket).any():
        return float(layout.MISMATCH)
    return float(stamps[firsts + layout.STAMP + half].max())


class Sums:
    """The sums, on top of a `meet`."""

    def __init__(self, meet=meet):
        self.meet = meet

    def allreduce(self, x, out, board, settings, dtype, now):
        """A block at a time: into my slot, meet, and everybody adds it all up."""
        slots, last = slots_of(board, settings, x.dtype), []
        for begin in range(0, max(1, len(x)), slots.shape[2]):
            part, half = slice(begin, min(begin + slots.shape[2], len(x))), next_half(board, settings)
            slots[settings[layout.RANK], half, : part.stop - begin] = x[part]
            last.append(self.meet(board, settings, ticket(layout.ALLREDUCE, dtype, x), now))
            if last[-1] < 0:
                return last[-1]
            ring_sum(out, slots[:, half], part)
        return last[0]

    def reduce_scatter(self, x, out, board, settings, dtype, now):
        """A block of each part at a time; everybody adds up their own part."""
        size, me, slots, last = settings[layout.SIZE], settings[layout.RANK], slots_of(board, settings, x.dtype), []
        edges, piece = np.arange(size + 1) * len(x) // size, slots.shape[2] // size
        for begin in range(0, max(1, -(-len(x) // size)), piece):
            half = next_half(board, settings)
            for rank in range(size):
                part = x[edges[rank] + begin : min(edges[rank] + begin + piece, edges[rank + 1])]
                slots[me, half, rank * piece : rank * piece + len(part)] = part
            last.append(self.meet(board, settings, ticket(layout.REDUCE_SCATTER, dtype, x), now))
            if last[-1] < 0:
                return last[-1]
            part = out[begin : begin + piece]
            add_up(part, slots[:, half, me * piece : me * piece + len(part)], me + 1)
        return last[0]


def next_half(board, settings):
    """Which half of the slots the next meeting is for: slower ranks can still read the other one."""
    return (board[layout.rank_words(settings[layout.RANK]) + layout.ARRIVED] + 1) & 1


def slots_of(board, settings, dtype):
    """Two blocks for each rank, as an array [rank, half, number]."""
    size, block, begin = settings[layout.SIZE], settings[layout.BLOCK], settings[layout.SLOTS]
    return board.view(np.uint8)[begin : begin + 2 * size * block].view(dtype).reshape(size, 2, -1)


def ticket(verb, dtype, x):
    return verb << layout.VERB | dtype << layout.DTYPE | x.size


def ring_sum(out, blocks, part):
    """out[part] = the sum over ranks of their blocks; chunk c begins with rank c."""
    size, n = len(blocks), len(out)
    edges = np.arange(size + 1) * n // size
    for chunk in range(size):
        lo, hi = max(edges[chunk], part.start), min(edges[chunk + 1], part.stop)
        if lo < hi:
            add_up(out[lo:hi], blocks[:, lo - part.start : hi - part.start], chunk)


def add_up(out, parts, first):
    """out = the sum of parts, beginning with `first`, around the ring."""
    out[...] = parts[first % len(parts)]
    for k in range(1, len(parts)):
        out += parts[(first + k) % len(parts)]
