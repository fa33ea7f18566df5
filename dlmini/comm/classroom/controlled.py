"""A rank of a room that obeys a Control: held at the end of a round, slowed in its local work, cut off from others.

The orders come as messages into an array of its own. What the rank itself writes there (rounds done, whom it waits for
at a cut link) the notebook learns from its events and notes.
"""

from __future__ import annotations

import numpy as np

from dlmini.comm.classroom.comm import RoomComm
from dlmini.comm.classroom.letters import Letters
from dlmini.comm.control import CUTS, STOP, Orders
from dlmini.comm.obeying import CutLinks, Obeying


def take_over(mine: Orders, said: np.ndarray) -> None:
    """New orders, into a rank's own array: all but what the rank itself writes."""
    theirs = Orders(mine.size, said)
    for name in ("limit", "factor", "links"):
        getattr(mine, name)[:] = getattr(theirs, name)
    mine.words[[STOP, CUTS]] = said[[STOP, CUTS]]


class CutLetters(CutLinks, Letters):
    """Letters with links that may be cut. Those that are kept count as not received."""

    def read(self) -> bool:
        return super().read() | self._release()

    def _count_kept(self, source: int, more: int) -> None:
        self.received[source] -= more


class ObedientComm(Obeying, RoomComm):
    """A rank of a run that somebody controls. Its sums pass the links of the ring: one may be cut."""

    direct = False

    def letters(self, mesh) -> CutLetters:
        self._orders = self._news.orders
        return CutLetters(self._orders, mesh)

    def _given_up(self) -> bool:
        return self._news.cancelled

    def _wait_for_news(self, what: str, on: tuple[int, ...]) -> None:
        """As inherited; but who waits for somebody beyond a cut link says so, and when that is over."""
        self._say_cut(what, on)
        super()._wait_for_news(what, on)
        if self._orders.waits[self.rank]:
            self._say_cut(what, on)

    def _say_cut(self, what: str, on: tuple[int, ...]) -> None:
        whom = 1 + on[0] if len(on) == 1 and self._orders.blocks(on[0], self.rank) else 0
        if self._orders.waits[self.rank] != whom:
            self._orders.waits[self.rank] = whom
            self._say_waiting(what, on)
