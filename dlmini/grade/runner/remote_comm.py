"""The communicator of a rank whose switch and clock are somewhere else: with the judge.

Every verb becomes a request; the judge's simulator does it and answers with the rank's clock. Nothing is booked here:
what a program can reach, it can change, so the books are kept where it cannot. Collectives are the judge's work, too:
here is nothing that could add up a vector over ranks, so nothing that could be called behind the judge's back.
"""

from __future__ import annotations

import linecache
import os
import sys
from operator import index

import numpy as np

ANY = -1  # as a source: whoever comes first


class RemoteComm:
    """What `dlmini.Comm` is to a program. `ask(verb, *rest)` sends a request and waits; `tell` only sends.

    ranks: None for the world; of a group, its ranks in the world.
    """

    life = 0

    def __init__(self, rank: int, size: int, ask, tell, mine: str, ranks: list[int] | None = None):
        self.rank, self.size, self._ranks = rank, size, ranks
        self._ask, self._tell_judge, self._mine = ask, tell, mine

    # ---- one to one ----

    def send(self, dest: int, message, tag: int = 0) -> None:
        self._tell_judge("send", self._ranks, self._checked(dest, "send to"), _tag(tag), message, self._where())

    def recv(self, source: int, tag: int = 0):
        return self._asked("recv", self._checked(source, "receive from"), _tag(tag))

    def recv_any(self, tag: int = 0) -> tuple[int, object]:
        return self._asked("recv_any", _tag(tag))

    def poll(self, source: int = ANY, tag: int = 0) -> bool:
        if type(source) is not int or source != ANY:
            source = self._checked(source, "poll")
        return self._asked("poll", source, _tag(tag))

    def arrives(self, seconds: float, tag: int = 0) -> bool:
        return self._asked("arrives", float(seconds), _tag(tag))

    def gone(self) -> frozenset[int]:
        """Nobody dies where the judge looks."""
        return frozenset()

    def give_up(self):
        """End here: the judge then hears that this rank has ended without an answer."""
        os._exit(1)

    # ---- time and work ----

    def now(self) -> float:
        return self._asked("now")

    def compute(self, label: str, fn, *args, flops: float = 0.0):
        result = fn(*args) if fn is not None else None
        self._tell_judge("compute", str(label), float(flops))
        return result

    def reached(self, share: float) -> None:
        """The judge charges work when it is done."""

    def emit(self, event) -> None:
        """The judge does not listen."""

    # ---- all together: done by the judge, where the test allows it ----

    def barrier(self) -> None:
        self._together("barrier")

    def bcast(self, x=None, root: int = 0):
        return self._together("bcast", x, self._checked(root, "broadcast from"))

    def gather(self, x, root: int = 0) -> list | None:
        return self._together("gather", x, self._checked(root, "gather at"))

    def allgather(self, x, how=None, wait: bool = True):
        found = self._together("allgather", x, how=how)
        return found if wait else Waited(found)

    def allreduce(self, x: np.ndarray, how=None, wait: bool = True):
        found = self._together("allreduce", _summable(x), how=how)
        return found if wait else Waited(found)

    def reduce_scatter(self, x: np.ndarray, how=None, wait: bool = True):
        found = self._together("reduce_scatter", _summable(x), how=how)
        return found if wait else Waited(found)

    def group(self, ranks) -> RemoteComm:
        """Some ranks, renumbered in the given order; its messages never meet those of the whole."""
        places = [self._checked(rank, "group with") for rank in ranks]
        if len(set(places)) < len(places) or self.rank not in places:
            raise ValueError(f"a group names each of its ranks once, rank {self.rank} among them, not {places}")
        world = places if self._ranks is None else [self._ranks[place] for place in places]
        return RemoteComm(places.index(self.rank), len(places), self._ask, self._tell_judge, self._mine, world)

    # ---- requests ----

    def _together(self, verb: str, *args, how=None):
        if how is not None:
            raise ValueError(f"in a check comm.{verb} is called without a schedule: leave {how!r} out")
        return self._asked("together", verb, list(args))

    def _asked(self, verb: str, *rest):
        return self._ask(verb, self._ranks, *rest, self._where())

    def _checked(self, rank: int, what: str) -> int:
        rank = _whole(rank, f"the rank to {what}")
        if 0 <= rank < self.size:
            return rank
        raise ValueError(f"rank {self.rank} wants to {what} rank {rank}, but the ranks are 0 ... {self.size - 1}")

    def _where(self) -> str:
        """The line of the student's file that called, for the diagnosis."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self._mine:
            frame = frame.f_back
        if frame is None:
            return self._mine
        return f"{self._mine}:{frame.f_lineno}: {linecache.getline(self._mine, frame.f_lineno).strip()}"


class Waited:
    """What was to be waited for later; here it is there already."""

    def __init__(self, found):
        self._found = found

    def start(self) -> Waited:
        return self

    def wait(self):
        return self._found


def _tag(tag: int) -> int:
    whole = _whole(tag, "a tag")
    if 0 <= whole < 2**31:
        return whole
    raise ValueError(f"tag {whole} is outside 0 ... 2^31 - 1 (negative tags belong to the collectives)")


def _whole(value: int, what: str) -> int:
    if isinstance(value, bool | np.bool_) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} is {value!r:.60}; it must be a whole number")
    return index(value)


def _summable(x: np.ndarray) -> np.ndarray:
    if isinstance(x, np.ndarray) and x.dtype.kind in "iufc":
        return x
    found = f"an array of {x.dtype}" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"
    raise TypeError(f"only arrays of numbers can be summed over ranks, not {found}; wrap a number as np.array([x])")
