"""Sums over ranks in shared memory, seen from Python: which kernel adds, and what to say when it refuses."""

from __future__ import annotations

from functools import cache, lru_cache
from types import SimpleNamespace

import numpy as np

from dlmini import jit
from dlmini.comm.errors import Unserved
from dlmini.comm.processes.kernels import shared_words as board
from dlmini.comm.processes.messages.receiving import Cancelled
from dlmini.comm.processes.plain import messages as letters
from dlmini.comm.processes.plain import waiting_and_sums as plain
from dlmini.comm.processes.shared_area import Commons
from dlmini.comm.processes.shelf import LARGE, Shelf
from dlmini.comm.schedules import NOBODY, Plan, cut, tree
from dlmini.jit import at_hand

VERBS = ("a barrier", "an allreduce", "a reduce_scatter")
NAMES = {np.dtype(code).num: np.dtype(code).name for code in np.typecodes["All"]}
FLOAT32 = np.dtype(np.float32)


@cache
def kernels() -> SimpleNamespace:
    """Everything compiled, or its twins. Sums are compiled for float32 (the course's vectors); NumPy adds the rest."""
    if jit.mode() == "numpy":
        return SimpleNamespace(**vars(plain), letters=letters, summing=plain.Sums(), anything=plain.Sums())
    from dlmini.comm.processes.kernels import messages as posting
    from dlmini.comm.processes.kernels import summing, waiting

    return SimpleNamespace(**vars(waiting), letters=posting, summing=summing, anything=plain.Sums(waiting.meet))


class Sums:
    """The commons as a place where vectors are added. Each verb gives its result, when I came and when the last did."""

    def __init__(self, commons: Commons, habits: np.ndarray):
        self.words, self.habits = commons.words, habits
        self.rank, self.size = int(habits[board.RANK]), commons.size
        some, way, common = np.empty(1, FLOAT32), kernels().summing, (self.words, habits)
        self.add = at_hand(way.allreduce, some, some, *common, FLOAT32.num, 0.0)
        self.add_part = at_hand(way.reduce_scatter, some, some, *common, FLOAT32.num, 0.0)
        self.come, self.shelf = at_hand(kernels().meet, *common, board.MEET, 0.0), Shelf()

    def allreduce(self, x: np.ndarray, now: float) -> tuple[np.ndarray, float, float]:
        dtype = x.dtype
        if not x.flags.carray:  # C order, aligned, writable: the one kind of array that kernels are compiled for
            x = x.copy()
        out = np.empty(x.size, dtype) if x.nbytes <= LARGE else self.shelf.empty(x.size, dtype)
        add = self.add if dtype == FLOAT32 else kernels().anything.allreduce
        last = add(x, out, self.words, self.habits, dtype.num, now)
        return (out, now, last) if last >= 0 else self.refuse(last, board.ALLREDUCE, x)

    def reduce_scatter(self, x: np.ndarray, now: float) -> tuple[np.ndarray, float, float]:
        if not x.flags.carray:
            x = x.copy()
        lo, hi = self.rank * len(x) // self.size, (self.rank + 1) * len(x) // self.size
        out = np.empty(hi - lo, x.dtype)
        add = self.add_part if x.dtype == FLOAT32 else kernels().anything.reduce_scatter
        last = add(x, out, self.words, self.habits, x.dtype.num, now)
        return (out, now, last) if last >= 0 else self.refuse(last, board.REDUCE_SCATTER, x)

    def meet(self, now: float) -> float:
        last = self.come(self.words, self.habits, board.MEET, now)
        return last if last >= 0 else self.refuse(last, board.MEET, np.empty(0))

    def refuse(self, verdict: float, verb: int, x: np.ndarray):
        doing = described(plain.ticket(verb, x.dtype.num, x))
        if verdict == board.ABORTED:
            raise Cancelled(doing, tuple(self._absent()))
        raise Unserved(self._deserted(doing)) if verdict == board.GONE else ValueError(self._mismatch())

    def _deserted(self, doing: str) -> str:
        run = self.habits[board.RUN]
        gone = [r for r in range(self.size) if self.words[board.rank_words(r) + board.FINISHED] == run]
        have = f"{ranks(gone)} {'has' if len(gone) == 1 else 'have'}"
        return f"rank {self.rank} {doing}, but {have} finished without it; all ranks must call the same verbs"

    def _mismatch(self) -> str:
        half = self.words[board.rank_words(self.rank) + board.ARRIVED] & 1
        tickets = [int(self.words[board.rank_words(r) + board.TICKET + half]) for r in range(self.size)]
        found = "; ".join(f"rank {rank} {described(ticket)}" for rank, ticket in enumerate(tickets))
        if len({ticket >> board.DTYPE for ticket in tickets}) == 1:
            return f"all ranks must bring vectors of the same length, but {found}"
        return f"all ranks must call the same verbs in one order, with vectors of one kind, but {found}"

    def _absent(self) -> list[int]:
        """Who has not come to the meeting I am at."""
        came = [self.words[board.rank_words(rank) + board.ARRIVED] for rank in range(self.size)]
        return [rank for rank in range(self.size) if came[rank] < came[self.rank]]


def described(ticket: int) -> str:
    """For people: `brings 5 float32 to an allreduce`."""
    verb, length = ticket >> board.VERB, ticket & (1 << board.DTYPE) - 1
    if verb == board.MEET:
        return "calls a barrier"
    return f"brings {length} {NAMES[ticket >> board.DTYPE & 0xFF]} to {VERBS[verb]}"


def ranks(which: list[int]) -> str:
    return f"rank {which[0]}" if len(which) == 1 else f"ranks {', '.join(map(str, which))}"


@cache
def broadcast_from(root: int, size: int) -> Plan:
    return tree.bcast(size, root)


@lru_cache(maxsize=256)
def sent_by(rank: int, plan: Plan, weights: tuple[int, ...]) -> list[tuple[int, int, int]]:
    """(dest, messages, bytes): what `rank` would send if the plan were played, with chunks of these weights."""
    found: dict[int, list[int]] = {}
    for to, lo, hi, *_ in plan.steps(rank):
        if to != NOBODY:
            line = found.setdefault(to, [0, 0])
            line[0] += 1
            line[1] += sum(weights[lo:hi])
    return [(to, *line) for to, line in found.items()]


@lru_cache(maxsize=256)
def chunk_weights(plan: Plan, length: int, itemsize: int) -> tuple[int, ...]:
    """Bytes of each chunk of a vector. In a half, chunk c is the part of the rank that owns it."""
    parts = itemsize * np.diff(cut(length, plan.chunks))
    return tuple((parts if plan.owner is None else parts[plan.owner]).tolist())
