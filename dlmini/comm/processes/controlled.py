"""A rank that obeys a Control: held at the end of a round, slowed in its local work, cut off from others.

Every wait here looks at the board too, so that it ends when the parent gives the run up; and it is not a sleep as in
kernels/waiting.py, so that nobody takes held ranks for a deadlock.
"""

from __future__ import annotations

from dlmini.comm.collectives import plan_of
from dlmini.comm.control import Orders
from dlmini.comm.obeying import NAP, CutLinks, Obeying
from dlmini.comm.processes.comm import SharedComm
from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.messages.receiving import Inbox
from dlmini.comm.processes.messages.slow_network import SlowInbox
from dlmini.comm.schedules import native, ring


class CutInbox(CutLinks, Inbox):
    """A post inbox with links that may be cut."""

    def __init__(self, *args):
        *_, area, _, _ = args
        super().__init__(Orders(area.size, area.control), *args)

    def wait(self, limit: float | None = None) -> None:
        if not self._release():
            held = any(self.kept.values())
            super().wait(min(limit or NAP, NAP) if held else limit)

    def read_all(self) -> None:
        super().read_all()
        self._release()

    def _count_kept(self, source: int, more: int) -> None:
        self._tell_held()

    def _tell_held(self) -> None:
        under_way = len(getattr(self, "coming", ())) + len(getattr(self, "held", ()))
        self.words[layout.rank_words(self.rank) + layout.HELD] = under_way + sum(map(len, self.kept.values()))


class CutSlowInbox(CutInbox, SlowInbox):
    """The same where letters are under way for a while."""


class ControlledComm(Obeying, SharedComm):
    """Rank `rank` of a run that somebody controls."""

    inbox, slow_inbox = CutInbox, CutSlowInbox

    def __init__(self, *args):
        super().__init__(*args)
        self._orders = self._inbox.orders

    def _given_up(self) -> bool:
        return self._inbox.look(layout.ABORT) == self._inbox.run

    def _wait(self, source: int, channel: int) -> None:
        """As inherited; but who waits for somebody beyond a cut link says so."""
        cut_off = source >= 0 and self._orders.blocks(source, self.rank)
        self._orders.waits[self.rank] = 1 + source if cut_off else 0
        super()._wait(source, channel)
        self._orders.waits[self.rank] = 0

    # ---- sums in shared memory have no messages: who would receive over a cut link does not come ----

    def allreduce(self, x, how=native, wait: bool = True):
        if how is native and wait and self._direct:
            self._gate(plan_of(ring, "allreduce", self.size))
        return super().allreduce(x, how, wait)

    def _native_reduce_scatter(self, x):
        if self._direct:
            self._gate(plan_of(ring, "reduce_scatter", self.size))
        return super()._native_reduce_scatter(x)

    def _wait_for_all(self, plan) -> None:
        if self._direct:
            self._gate(plan)
        super()._wait_for_all(plan)

    def _gate(self, plan) -> None:
        source = self._orders.blocked_from(plan, self.rank)
        if source is not None:
            called, self._orders.waits[self.rank] = self.now(), 1 + source
            self._wait_while(
                lambda: self._orders.blocks(source, self.rank), f"waits for rank {source}: the link is cut"
            )
            self._orders.waits[self.rank] = 0
            self._book_time(called, called, self.now())
