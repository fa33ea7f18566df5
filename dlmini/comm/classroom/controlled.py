"""A rank of a room that obeys a Control: held at the end of a round, slowed in its local work, cut off from others.

The orders come as messages into an array of its own. What the rank itself writes there (rounds done, whom it waits for
at a cut link) the notebook learns from its events and notes.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable
from itertools import chain

import numpy as np

from dlmini.comm.channels import ANY
from dlmini.comm.classroom.comm import RoomComm
from dlmini.comm.classroom.letters import Letter, Letters
from dlmini.comm.control import CUTS, STOP, Orders
from dlmini.comm.processes.messages.receiving import Cancelled
from dlmini.events import Event, Round

NAP = 0.005  # seconds between two looks of a rank that is held


def take_over(mine: Orders, said: np.ndarray) -> None:
    """New orders, into a rank's own array: all but what the rank itself writes."""
    theirs = Orders(mine.size, said)
    for name in ("limit", "factor", "links"):
        getattr(mine, name)[:] = getattr(theirs, name)
    mine.words[[STOP, CUTS]] = said[[STOP, CUTS]]


class CutLetters(Letters):
    """Keeps letters from beyond a cut link, in their order, until it is healed. Kept ones count as not received."""

    def __init__(self, mesh, orders: Orders):
        super().__init__(mesh)
        self.orders, self.kept = orders, defaultdict(deque)  # by source: (channel, letter)

    def come(self, source: int, channel: int, letter: Letter) -> None:
        if self.kept[source] or self.orders.blocks(source, self.rank):
            self.received[source] -= 1
            self.kept[source].append((channel, letter))
        else:
            super().come(source, channel, letter)

    def read(self) -> bool:
        return super().read() | self._release()

    def _release(self) -> bool:
        """Let in what may come. Was there anything?"""
        healed = [source for source in self.kept if self.kept[source] and not self.orders.blocks(source, self.rank)]
        for source in healed:
            for channel, letter in self.kept.pop(source):
                self.received[source] += 1
                super().come(source, channel, letter)
        return bool(healed)

    def expects(self, source: int) -> bool:
        """What a dead rank sent over a cut link is lost: nobody waits for that."""
        kept = {sender for sender, letters in self.kept.items() if letters} - self.lost
        return super().expects(source) or (bool(kept) if source == ANY else source in kept)

    def unread(self) -> dict[tuple[int, int], int]:
        found = defaultdict(int, super().unread())
        for source, channel in chain(*([(s, channel) for channel, _ in kept] for s, kept in self.kept.items())):
            found[source, channel] += 1
        return dict(found)


class ObedientComm(RoomComm):
    """A rank of a run that somebody controls. Its sums pass the links of the ring: one may be cut."""

    direct = False

    def letters(self, mesh) -> CutLetters:
        self._orders = self._news.orders
        return CutLetters(mesh, self._orders)

    def emit(self, event: Event) -> None:
        super().emit(event)
        if isinstance(event, Round):
            self._orders.done[self.rank] = event.t + 1
            self._wait_while(lambda: self._orders.holds(self.rank), "is held by the pause button")

    def _charge(self, label: str, flops: float, share: float = 1.0) -> None:
        """The rest of what slowed work takes."""
        factor = self._orders.factor[self.rank]
        if factor > 1:
            end = self.now() + (factor - 1) * (self.now() - self._work[1])
            self._wait_while(lambda: self.now() < end, "works slowly", lambda: end - self.now())
            self._pause_work(self.now(), self.now())  # what comes after is slowed by itself

    def _wait(self, what: str, on: tuple[int, ...]) -> None:
        """As inherited; but who waits for somebody beyond a cut link says so, and when that is over."""
        self._say_cut(what, on)
        super()._wait(what, on)
        if self._orders.waits[self.rank]:
            self._say_cut(what, on)

    def _say_cut(self, what: str, on: tuple[int, ...]) -> None:
        whom = 1 + on[0] if len(on) == 1 and self._orders.blocks(on[0], self.rank) else 0
        if self._orders.waits[self.rank] != whom:
            self._orders.waits[self.rank] = whom
            self._say_waiting(what, on)

    def _wait_while(self, held: Callable[[], bool], why: str, rest: Callable[[], float] = lambda: NAP) -> None:
        while held():
            if self._news.cancelled:
                raise Cancelled(why)
            time.sleep(max(0.0, min(NAP, rest())))
