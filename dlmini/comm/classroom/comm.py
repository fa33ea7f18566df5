"""RoomComm: a rank on one PC of a room as a `Comm`.

Its native sums are those of the ring, to the bit and in the books. Of short vectors their way is another: every rank
sends each chunk straight to the rank at which the ring would end its sum, which adds in the ring's order and sends the
sum to all: the same bytes in 2 latencies instead of 2 (N-1).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from dlmini.comm.channels import ALLGATHER, ALLREDUCE, ANY, REDUCE_SCATTER, name_of
from dlmini.comm.classroom.letters import TICK, Letters
from dlmini.comm.classroom.mesh import Mesh
from dlmini.comm.collectives import Pending, plan_of
from dlmini.comm.control import Orders, length
from dlmini.comm.errors import Cancelled
from dlmini.comm.mailboxes import MailboxComm, weight_of
from dlmini.comm.mpi.clock import offset_to_rank_0
from dlmini.comm.real_transports import chunk_weights, sent_by
from dlmini.comm.schedules import Plan, cut, ring
from dlmini.comm.schedules.play import fitting
from dlmini.events import Event

SHORT = 1 << 19  # bytes of a vector whose chunks go straight to their places
CLOCK = -(2**31) + 1  # a channel that neither programs nor collectives use


class Waiting(NamedTuple):
    """A rank that has waited for a while: what it does, on whom it waits; all letters sent and received, by rank."""

    what: str
    on: tuple[int, ...]
    sent: tuple[int, ...]
    received: tuple[int, ...]
    lost: int  # how many deaths it knows of
    cut: int = 0  # 1 + the rank it waits for at a cut link


class News:
    """What the notebook says to a rank while it runs; written by the thread that hears it, read by the program's."""

    def __init__(self, size: int):
        self.cancelled, self.deaths, self.orders = False, [], Orders(size, np.zeros(length(size)))


class RoomComm(MailboxComm):
    """A rank of a run. tell: takes events away; note: tells the notebook that this rank has waited for a while."""

    letters, direct = Letters, True  # a rank that obeys a control has others, and goes no short ways (controlled.py)

    def __init__(self, mesh: Mesh, news: News, tell: Callable[[Event], None], note: Callable[[Waiting], None]):
        super().__init__(mesh.rank, mesh.size)
        self._mesh, self._news, self._tell, self._note = mesh, news, tell, note
        self._inbox, self._noted = self.letters(mesh), None
        self._zero, pings = 0.0, Pings(self)
        self._zero = offset_to_rank_0(pings, time.perf_counter)
        self._zero -= pings.of_rank_0(self.now())

    def now(self) -> float:
        return time.perf_counter() + self._zero

    def gone(self) -> frozenset[int]:
        self._look()
        return frozenset(self._inbox.lost)

    def close(self) -> dict[tuple[int, int], int]:
        """Leave when all have finished; how many messages lie unread, by source and channel."""
        self._finish_posted()
        return self._inbox.finish(lambda: self._wait_for_news("has finished", self._others()))

    # ---- messages ----

    def _post(self, dest: int, channel: int, message) -> int:
        if self._news.cancelled:
            raise Cancelled(f"sends to rank {dest} ({name_of(channel)})")
        return self._inbox.post(channel, message, self.now(), dest)

    def _take(self, source: int, channel: int) -> tuple[object, float]:
        letter = self._await(source, channel)
        return letter.message(), letter.sent

    def _take_any(self, channel: int) -> tuple[int, object, float]:
        self._look()
        source = self._arrived(ANY, channel)
        return source, *self._take(source, channel)

    def _ready(self, source: int, channel: int) -> bool:
        self._look()
        if self._inbox.found(source, channel) is None:
            time.sleep(0)  # after a look in vain: let others run
            return False
        return True

    # ---- waiting ----

    def _look(self) -> bool:
        """Take in what is here, letters and news; was there anything?"""
        if self._news.cancelled:
            raise Cancelled
        found = self._inbox.read()
        while self._news.deaths:
            self._inbox.lose(self._news.deaths.pop(0))
            found = True
        return found

    def _wait(self, source: int, channel: int) -> None:
        self._wait_for_news(*self._receiving(source, channel))

    def _wait_for_news(self, what: str, on: tuple[int, ...]) -> None:
        """For news of any kind. Who waits for longer says so, that all of them can be seen to wait for each other."""
        try:
            if self._look():
                return
            began = time.monotonic()
            while not self._look():
                if time.monotonic() - began > TICK:
                    self._look_around(what, on)
                    return
                self._mesh.wait(TICK)
                self._mesh.bell.hush()
        except Cancelled:
            raise Cancelled(what, on) from None

    def _look_around(self, what: str, on: tuple[int, ...]) -> None:
        broken = [rank for rank in self._mesh.broken() if rank not in self._inbox.ended]
        self._say_waiting(what, on, broken)

    def _say_waiting(self, what: str, on: tuple[int, ...], broken: Sequence[int] = ()) -> None:
        """If that is news to the notebook."""
        letters, cut = self._inbox, int(self._news.orders.waits[self.rank])
        now = Waiting(what, on, tuple(letters.sent), tuple(letters.received), len(letters.lost), cut)
        if broken or now != self._noted:
            self._noted = now
            self._note(now, list(broken))

    # ---- natives ----

    def _native_allreduce(self, x) -> Pending:
        if not self._straight(x):
            return super()._native_allreduce(x)
        called, plan, edges = self.now(), plan_of(ring, "allreduce", self.size), cut(len(x), self.size)
        part, last, adding = self._summed(ALLREDUCE, lambda rank: chunk(x, edges, rank + 1))
        total = np.empty_like(x)
        chunk(total, edges, self.rank + 1)[:] = part
        self._spread(part, ALLREDUCE)
        for other in self._onward(-1):
            here = chunk(total, edges, other + 1)
            found, sent = self._take(other, ALLREDUCE)
            here[:], last = fitting(found, len(here)), max(last, sent)
        self._book_native(ALLREDUCE, plan, chunk_weights(plan, len(x), x.itemsize), called, last, adding)
        return Pending(total)

    def _native_reduce_scatter(self, x):
        if not self._straight(x):
            return super()._native_reduce_scatter(x)
        called, plan, edges = self.now(), plan_of(ring, "reduce_scatter", self.size), cut(len(x), self.size)
        part, last, adding = self._summed(REDUCE_SCATTER, lambda rank: chunk(x, edges, rank))
        self._book_native(REDUCE_SCATTER, plan, chunk_weights(plan, len(x), x.itemsize), called, last, adding)
        return part

    def _native_allgather(self, message) -> list:
        """One's own to everybody at once; the ring would pass it on."""
        if not self.direct:
            return super()._native_allgather(message)
        called, plan, last = self.now(), plan_of(ring, "allgather", self.size), 0.0
        weights, found = [0] * self.size, [message] * self.size
        weights[self.rank] = self._spread(message, ALLGATHER)
        for other in self._onward(-1):
            letter = self._await(other, ALLGATHER)
            found[other], weights[other], last = letter.message(), weight_of(letter), max(last, letter.sent)
        self._book_native(ALLGATHER, plan, tuple(np.array(weights)[plan.owner].tolist()), called, last)
        return found

    def _straight(self, x) -> bool:
        return self.direct and isinstance(x, np.ndarray) and self.size > 2 and x.nbytes <= SHORT

    def _onward(self, way: int = 1):
        """The others, from one's neighbour on: so that not all begin with the same."""
        return ((self.rank + way * step) % self.size for step in range(1, self.size))

    def _spread(self, message, channel: int) -> int:
        """To everybody; its weight."""
        if self._news.cancelled:
            raise Cancelled(f"sends to all ({name_of(channel)})")
        return self._inbox.post(channel, message, self.now(), *self._onward())

    def _summed(self, channel: int, chunk_of: Callable) -> tuple[np.ndarray, float, float]:
        """My chunk's sum, added as the ring does, from the rank behind me once around to me; when the last one had
        sent; and how long adding took."""
        for other in self._onward():
            self._post(other, channel, chunk_of(other))
        mine, total, last, adding = chunk_of(self.rank), None, 0.0, 0.0
        for other in (*self._onward(), self.rank):
            found, sent = (mine, 0.0) if other == self.rank else self._take(other, channel)
            start, last = time.perf_counter(), max(last, sent)
            if total is None:
                total = fitting(found, len(mine))
            else:
                total += fitting(found, len(mine))
                adding += time.perf_counter() - start
        return total, last, adding

    def _book_native(self, channel: int, plan: Plan, weights: tuple, called: float, last: float, adding=0.0) -> None:
        """As if the plan had been played. All adding is booked as one stretch, at the end."""
        for to, messages, nbytes in sent_by(self.rank, plan, weights):
            self.ledger.book(to, channel, nbytes, messages)
        left = self.now()
        self._book_received(called, last, left - adding)
        if adding:
            self._book_work("sum", left - adding, left)


def chunk(x: np.ndarray, edges: np.ndarray, number: int) -> np.ndarray:
    """A view of chunk `number` mod N of a vector that is cut at these edges."""
    number %= len(edges) - 1
    return x[edges[number] : edges[number + 1]]


class Pings:
    """What aligning clocks asks of MPI, by letters (mpi/clock.py)."""

    def __init__(self, comm: RoomComm):
        self.comm, self.rank, self.size = comm, comm.rank, comm.size

    def Send(self, x: np.ndarray, dest: int) -> None:
        self.comm._post(dest, CLOCK, x)

    def Recv(self, x: np.ndarray, source: int) -> None:
        x[:] = self.comm._take(source, CLOCK)[0]

    def of_rank_0(self, x: float) -> float:
        """Rank 0's number, on every rank."""
        for other in range(1, self.size) if self.rank == 0 else ():
            self.comm._post(other, CLOCK, x)
        return self.comm._take(0, CLOCK)[0] if self.rank else x
