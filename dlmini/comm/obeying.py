"""How a rank of real time obeys a Control: held at the end of a round, slowed in its local work, cut off from others.

Both classes are mixed into a transport's own, before it in the order of inheritance.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from itertools import chain

from dlmini.comm.channels import ANY
from dlmini.comm.control import Orders
from dlmini.comm.errors import Cancelled
from dlmini.events import Event, Round

NAP = 0.005  # seconds between two looks of a rank that is held


class CutLinks:
    """Mailboxes that keep letters from beyond a cut link, in their order, until it is healed."""

    def __init__(self, orders: Orders, *args):
        self.orders, self.kept = orders, defaultdict(deque)  # by source
        super().__init__(*args)

    def come(self, letter) -> None:
        if self.kept[letter.source] or self.orders.blocks(letter.source, self.rank):
            self.kept[letter.source].append(letter)
            self._count_kept(letter.source, 1)
        else:
            super().come(letter)

    def _release(self) -> bool:
        """Let in what may come. Was there anything?"""
        healed = [source for source in self.kept if self.kept[source] and not self.orders.blocks(source, self.rank)]
        for source in healed:
            letters = self.kept.pop(source)
            for letter in letters:
                super().come(letter)
            self._count_kept(source, -len(letters))
        return bool(healed)

    def _count_kept(self, source: int, more: int) -> None:
        """So many letters more are kept: for who watches whether all ranks wait."""
        raise NotImplementedError

    def expects(self, source: int) -> bool:
        """What a dead rank sent over a cut link is lost: nobody waits for that."""
        if super().expects(source):  # first: it may read letters that are then kept
            return True
        kept = {sender for sender, letters in self.kept.items() if letters} - self.lost
        return bool(kept) if source == ANY else source in kept

    def unread(self) -> dict[tuple[int, int], int]:
        kept = chain(*self.kept.values())
        return dict(Counter(super().unread()) + Counter((letter.source, letter.channel) for letter in kept))


class Obeying:
    """A Comm that looks at its `_orders`. A transport says whether the run is given up."""

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

    def _given_up(self) -> bool:
        raise NotImplementedError

    def _wait_while(self, held: Callable[[], bool], why: str, rest: Callable[[], float] = lambda: NAP) -> None:
        while held():
            if self._given_up():
                raise Cancelled(why)
            time.sleep(max(0.0, min(NAP, rest())))
