"""A rank that obeys a Control: held at the end of a round, slowed in its local work, cut off from others.

Every wait here looks at the board too, so that it ends when the parent gives the run up; and it is not a sleep as in
kernels/waiting.py, so that nobody takes held ranks for a deadlock.
"""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable
from itertools import chain

from dlmini.comm.channels import ANY
from dlmini.comm.collectives import plan_of
from dlmini.comm.control import Orders
from dlmini.comm.processes.comm import SharedComm
from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.messages.receiving import Cancelled, Inbox, Letter
from dlmini.comm.processes.messages.slow_network import SlowInbox
from dlmini.comm.schedules import native, ring
from dlmini.events import Event, Round

NAP = 0.005  # seconds between two looks of a rank that is held


class CutInbox(Inbox):
    """A post inbox that keeps letters from beyond a cut link, in their order, until it is healed."""

    def __init__(self, *args):
        *_, area, _, _ = args
        self.orders = Orders(area.size, area.control)
        self.kept: dict[int, deque[Letter]] = defaultdict(deque)  # by source
        super().__init__(*args)

    def come(self, letter: Letter) -> None:
        if self.kept[letter.source] or self.orders.blocks(letter.source, self.rank):
            self.kept[letter.source].append(letter)
            self._tell_held()
        else:
            super().come(letter)

    def wait(self, limit: float | None = None) -> None:
        if not self._release():
            held = any(self.kept.values())
            super().wait(min(limit or NAP, NAP) if held else limit)

    def read_all(self) -> None:
        super().read_all()
        self._release()

    def expects(self, source: int) -> bool:
        """What a dead rank sent over a cut link is lost: nobody waits for that."""
        if super().expects(source):  # first: it may read letters that are then kept
            return True
        kept = {sender for sender, letters in self.kept.items() if letters} - self.lost
        return bool(kept) if source == ANY else source in kept

    def close(self) -> dict[tuple[int, int], int]:
        unread = defaultdict(int, super().close())
        for letter in chain(*self.kept.values()):
            unread[letter.source, letter.envelope.channel] += 1
        return dict(unread)

    def _release(self) -> bool:
        """Let in what may come. Was there anything?"""
        healed = [source for source, letters in self.kept.items() if letters and not self._blocked(source)]
        for source in healed:
            letters, self.kept[source] = self.kept[source], deque()
            for letter in letters:
                super().come(letter)
        if healed:
            self._tell_held()
        return bool(healed)

    def _blocked(self, source: int) -> bool:
        return self.orders.blocks(source, self.rank)

    def _tell_held(self) -> None:
        under_way = len(getattr(self, "coming", ())) + len(getattr(self, "held", ()))
        self.words[layout.rank_words(self.rank) + layout.HELD] = under_way + sum(map(len, self.kept.values()))


class CutSlowInbox(CutInbox, SlowInbox):
    """The same where letters are under way for a while."""


class ControlledComm(SharedComm):
    """Rank `rank` of a run that somebody controls."""

    inbox, slow_inbox = CutInbox, CutSlowInbox

    def __init__(self, *args):
        super().__init__(*args)
        self._orders = self._inbox.orders

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

    def _wait_while(self, held: Callable[[], bool], why: str, rest: Callable[[], float] = lambda: NAP) -> None:
        inbox = self._inbox
        while held():
            if inbox.look(layout.ABORT) == inbox.run:
                raise Cancelled(why)
            time.sleep(max(0.0, min(NAP, rest())))
