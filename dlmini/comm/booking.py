"""The books: where a rank's bytes and seconds are written down, and nowhere else.

compute        local work: everything inside `compute` that is not one of the other two, and sums inside collectives
waiting        from the call of a receive to the moment the partner called send (its stamp), if that is later
communication  the rest of every send and receive
"""

from __future__ import annotations

from dlmini.comm.ledger import Ledger
from dlmini.events import Phases, Span


class Booking:
    """What `Comm` inherits to keep its ledger and its phases."""

    __slots__ = ("_work", "ledger", "phases", "spans")

    def __init__(self, rank: int):
        self.ledger, self.phases = Ledger(rank), Phases()
        self.spans = False  # True: every stretch of time is also emitted as a Span
        self._work: tuple[str, float] | None = None  # the local work going on: its label, and since when

    def _book_sent(self, line: list[int], nbytes: int, called: float, left: float) -> None:
        line[0] += 1
        line[1] += nbytes
        if left > called:
            self._book_time(called, called, left)

    def _book_received(self, called: float, sent: float, left: float) -> None:
        if left > called:
            begun = called if sent < called else left if sent > left else sent
            if self._work is None and not self.spans:
                self.phases.waiting += begun - called
                self.phases.communication += left - begun
            else:
                self._book_time(called, begun, left)

    def _book_time(self, called: float, begun: float, left: float) -> None:
        """A call that lasted from `called` to `left`; until `begun` there was nothing to fetch."""
        phases = self.phases
        phases.waiting += begun - called
        phases.communication += left - begun
        if self._work is not None:
            self._pause_work(called, left)
        if self.spans:
            self._span("waiting", "", called, begun)
            self._span("communication", "", begun, left)

    def _book_share(self, called: float, begun: float, ended: float, whole: Phases) -> None:
        """A posted collective lasted from `begun` to `ended`; only from `called` on was it waited for."""
        felt = (ended - max(called, begun)) / (ended - begun) if ended > begun else 0.0
        summed = called + felt * whole.compute
        self._book_work("sum", called, summed)
        self._book_time(summed, min(summed + felt * whole.waiting, ended), ended)

    def _pause_work(self, until: float, again: float) -> None:
        """Local work went on until `until`, and goes on at `again`."""
        label, start = self._work
        self._work = (label, again)
        self._book_compute(label, start, until)

    def _book_work(self, label: str, start: float, end: float) -> None:
        """Local work of the library's own, perhaps in the middle of the program's."""
        if self._work is not None:
            self._pause_work(start, end)
        self._book_compute(label, start, end)

    def _book_compute(self, label: str, start: float, end: float) -> None:
        self.phases.compute += end - start
        if self.spans:
            self._span("compute", label, start, end)

    def _span(self, phase: str, label: str, start: float, end: float) -> None:
        if end > start:
            self._tell(Span(phase, label, start, end, rank=self.rank, at=end))
