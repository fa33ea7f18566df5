"""The vocabulary of schedules: steps, plans, and formulas that hold for one rank and for all ranks alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from dlmini.checks import piece

NOBODY = -1


class Step(NamedTuple):
    """One step of one rank: I send chunks [lo, hi) to `to`, then receive chunks [into, end) from `source`.

    What I receive I add to mine, or put in place of mine. NOBODY as a partner: nothing that way in this step.
    For all ranks at once, every field but `add` is an array over ranks.
    """

    to: int
    lo: int
    hi: int
    source: int
    into: int
    end: int
    add: bool


@dataclass(frozen=True, eq=False)
class Plan:
    """A collective among `size` ranks, as data: the vector's chunks, and each rank's steps.

    `steps(r)` takes one rank (an int), or all of them (np.arange(size)), and yields the same steps either way.
    `home` says at which rank each chunk's sum is complete first; `owner`, of a half, at which rank each chunk ends
    (reduce-scatter) or begins (all-gather): every rank owns one.
    """

    name: str
    size: int
    chunks: int
    steps: Callable[[int | np.ndarray], Iterator[Step]] = field(repr=False)
    home: np.ndarray = field(repr=False)
    owner: np.ndarray | None = field(repr=False, default=None)
    single: bool = field(repr=False, default=False)  # no message carries more than one chunk
    trusted: bool = field(repr=False, default=False)  # one of the house's own: `home` and the steps are known to fit

    @cached_property
    def owned(self) -> np.ndarray:
        """The other way round: which chunk each rank owns."""
        return np.argsort(self.owner)


class Schedule(Protocol):
    """An algorithm: a frozen dataclass that can plan an all-reduce, and perhaps its halves."""

    def allreduce(self, size: int) -> Plan: ...


class Native:
    """The transport's own best way."""

    def __repr__(self) -> str:
        return "native"

    def __reduce__(self) -> str:
        return "native"  # there is but one: a copy that travelled to another process is this object again


native = Native()
HOW = "native, ring, tree, doubling, halving_doubling, naive (the names themselves, no strings) or Hierarchical(g)"


def schedule(how):
    """`how`, if that is a schedule."""
    return how if how is native else piece(how, "how", ("allreduce",), HOW)


def pick(which, this, that):
    """`this` where `which` holds, else `that`: for one rank and for all ranks alike."""
    return np.where(which, this, that) if isinstance(which, np.ndarray) else this if which else that


def whole(r, chunks: int) -> tuple:
    """All chunks: (first, end), for one rank or for all."""
    return 0 * r, 0 * r + chunks


def cut(length: int, parts: int) -> np.ndarray:
    """Where a vector of `length` is cut into `parts`, as evenly as can be: part p is [edges[p], edges[p + 1])."""
    return np.arange(parts + 1) * length // parts
