"""SharedComm: a rank among ranks of one machine, who share memory. Messages go by the post inbox, sums by the area.

The natives are bit for bit the schedules that `Comm` would play instead, and are booked as those: the ring for sums and
all-gather, the tree for a broadcast, doubling for the barrier. Only their way is shorter: a broadcast or all-gather
writes each message once for all readers, a sum is added in place.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np
from numpy import empty, ndarray

from dlmini.comm import wire
from dlmini.comm.channels import ALLGATHER, ALLREDUCE, ANY, BARRIER, BCAST, NAMES, REDUCE_SCATTER
from dlmini.comm.collectives import Pending, plan_of
from dlmini.comm.errors import Cancelled
from dlmini.comm.ghost import Ghost
from dlmini.comm.mailboxes import MailboxComm, weight_of
from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.kernels.layout import ALL
from dlmini.comm.processes.messages.receiving import Inbox, Letter
from dlmini.comm.processes.messages.ring_buffer import BYTE
from dlmini.comm.processes.messages.slow_network import Links, SlowInbox
from dlmini.comm.processes.shared_area import SharedArea
from dlmini.comm.processes.sums import FLOAT32, LARGE, Sums, kernels
from dlmini.comm.processes.wait_settings import wait_settings
from dlmini.comm.real_transports import chunk_weights, sent_by, tree_from
from dlmini.comm.schedules import native, ring

USUAL, NUMBER = LARGE // FLOAT32.itemsize, FLOAT32.num


class SharedComm(MailboxComm):
    """Rank `rank` of a run. `epoch`: when the clock showed zero; `cores`: how many there are for all ranks together."""

    inbox, slow_inbox = Inbox, SlowInbox  # a rank that obeys a control has others (controlled.py)

    def __init__(self, rank: int, area: SharedArea, run: int, epoch: float, cores: int, network=None, tell=None):
        super().__init__(rank, area.size)
        own, use = wait_settings(rank, area, run, cores), kernels()
        self._epoch, self._tell, self._sums = epoch, tell, Sums(area, own)
        self._links = network and Links(network, rank, self.size, area.words, use)
        post = (rank, area, own, use)
        self._inbox = self.slow_inbox(self._links, self.now, *post) if network else self.inbox(*post)
        self._short = type(self._inbox) is Inbox  # may vectors take the shortest way?
        self._direct = self.size > 1 and network is None  # may messages and sums take the way through shared memory?
        self._lines: dict[int, tuple[list[int], int, int]] = {}  # what a sum books, by the length of the vector

    def now(self) -> float:
        return perf_counter() - self._epoch

    def gone(self) -> frozenset[int]:
        return self._inbox.dead()

    def close(self) -> dict[tuple[int, int], int]:
        """Leave when all have finished; how many messages lie unread, by source and channel."""
        self._finish_posted()
        return self._inbox.close()

    def shut(self) -> None:
        """After this, the memory is the next run's."""
        self._inbox.outbox.shut()

    # ---- messages ----

    def _send(self, dest: int, message, channel: int) -> None:
        """As inherited. A vector of float32 goes without detours: of a short one they cost more than its way."""
        plain = type(message) is ndarray and message.dtype is FLOAT32 and message.ndim == 1 and self._short
        if not plain or dest == self.rank or not message.flags.c_contiguous:
            super()._send(dest, message, channel)
            return
        called, data = perf_counter() - self._epoch, message.view(BYTE)
        self._inbox.outbox.send_vector(dest, channel, called, data)
        self._book_sent(self.ledger.line(dest, channel), data.size, called, perf_counter() - self._epoch)

    def _recv(self, source: int, channel: int):
        """As inherited; the same."""
        called, inbox, message = perf_counter() - self._epoch, self._inbox, None
        if self._short and source != self.rank:
            while message is None and (source, channel) not in inbox.boxes and source not in inbox.ended:
                message, sent = self._next(source, channel, inbox.vector)
        if message is None:
            message, sent = self._take(source, channel)
        self._book_received(called, sent, perf_counter() - self._epoch)
        return message

    def _post(self, dest: int, channel: int, message) -> int:
        frame, now = wire.pack(message), self.now()
        times = (now, now) if self._links is None else self._links.depart(dest, now, frame.nbytes)
        envelope = wire.Envelope(channel, now, len(frame.header), sum(map(len, frame.buffers)), *times)
        if dest == self.rank:
            self._inbox.file(Letter(dest, envelope, frame.header, frame.payload()))
        else:
            self._inbox.outbox.send(dest, envelope, body_of(frame))
        return frame.nbytes

    def _take(self, source: int, channel: int) -> tuple[object, float]:
        letter = self._await(source, channel)
        return letter.message(), letter.envelope.sent

    def _take_any(self, channel: int) -> tuple[int, object, float]:
        self._inbox.read_all()
        source = self._arrived(ANY, channel)
        return source, *self._take(source, channel)

    def _ready(self, source: int, channel: int) -> bool:
        self._inbox.read_all()
        if self._inbox.found(source, channel) is None:
            self._inbox.give_way()
            return False
        return True

    def _wait(self, source: int, channel: int) -> None:
        self._next(source, channel, lambda *_: self._inbox.wait())

    def _next(self, source: int, channel: int, wait: Callable):
        """wait(source, channel); if the run is given up meanwhile, say what for."""
        try:
            return wait(source, channel)
        except Cancelled:
            raise Cancelled(*self._receiving(source, channel)) from None

    # ---- natives ----

    def allreduce(self, x: np.ndarray, how=native, wait: bool = True):
        """As inherited. What training sums goes without detours: of a short vector they cost as much as adding does."""
        plain = type(x) is ndarray and x.dtype is FLOAT32 and x.ndim == 1 and x.flags.carray
        usual = plain and x.size <= USUAL and how is native and wait
        if not (usual and self._direct) or self._unfinished:
            return super().allreduce(x, how, wait)
        called, sums, size = perf_counter() - self._epoch, self._sums, x.size
        out = empty(size, FLOAT32)
        last = sums.add(x, out, sums.words, sums.settings, NUMBER, called)
        if last < 0:
            sums.refuse(last, layout.ALLREDUCE, x)
        if size not in self._lines:
            self._lines[size] = self._line_of(ALLREDUCE, x)
        line, messages, nbytes = self._lines[size]
        line[0] += messages
        line[1] += nbytes
        self._book_time(called, last, perf_counter() - self._epoch)
        return out

    def _native_allreduce(self, x) -> Pending:
        if isinstance(x, Ghost) or not self._direct:
            return super()._native_allreduce(x)
        return Pending(self._book_sum(ALLREDUCE, x, self._sums.allreduce(x, self.now())))

    def _native_reduce_scatter(self, x):
        if isinstance(x, Ghost) or not self._direct:
            return super()._native_reduce_scatter(x)
        return self._book_sum(REDUCE_SCATTER, x, self._sums.reduce_scatter(x, self.now()))

    def _book_sum(self, channel: int, x: np.ndarray, summed: tuple[np.ndarray, float, float]) -> np.ndarray:
        """Book what was summed in the area as the ring would have been."""
        out, called, last = summed
        line, messages, nbytes = self._line_of(channel, x)
        line[0] += messages
        line[1] += nbytes
        self._book_time(called, last, perf_counter() - self._epoch)
        return out

    def _line_of(self, channel: int, x: np.ndarray) -> tuple[list[int], int, int]:
        """What playing the ring with x would book: the line, messages, bytes."""
        plan = plan_of(ring, NAMES[channel], self.size)
        [(dest, messages, nbytes)] = sent_by(self.rank, plan, chunk_weights(plan, x.size, x.itemsize))
        return self.ledger.line(dest, channel), messages, nbytes

    def _native_allgather(self, message) -> list:
        if not self._direct:
            return super()._native_allgather(message)
        found, weights = [message] * self.size, [self._send_to_all(ALLGATHER, message)] * self.size
        for source in self._inbox.others:
            found[source], weights[source] = self._fetch(source, ALLGATHER)
        plan = plan_of(ring, "allgather", self.size)
        self._book_plan(plan, ALLGATHER, tuple(weights[owner] for owner in plan.owner))
        return found

    def _native_bcast(self, message, root: int):
        if not self._direct:
            return super()._native_bcast(message, root)
        if self.rank == root:
            weight = self._send_to_all(BCAST, message)
        else:
            message, weight = self._fetch(root, BCAST)
        self._book_plan(tree_from(root, self.size), BCAST, (weight,))
        return message

    def _wait_for_all(self, plan) -> None:
        if not self._direct:
            super()._wait_for_all(plan)
            return
        called = self.now()
        last = self._sums.meet(called)
        self._book_plan(plan, BARRIER, (0,) * plan.chunks)
        self._book_received(called, last, self.now())

    def _send_to_all(self, channel: int, message) -> int:
        called = self.now()
        weight = self._post(ALL, channel, message)
        self._book_received(called, called, self.now())
        return weight

    def _fetch(self, source: int, channel: int) -> tuple[object, int]:
        """A message sent to all, and its weight."""
        called = self.now()
        letter = self._await(source, channel)
        message = letter.message()
        self._book_received(called, letter.envelope.sent, self.now())
        return message, weight_of(letter)

    def _book_plan(self, plan, channel: int, weights: tuple[int, ...]) -> None:
        """Book what playing the plan would have sent."""
        for dest, messages, nbytes in sent_by(self.rank, plan, weights):
            self.ledger.book(dest, channel, nbytes, messages)


def body_of(frame: wire.Frame) -> list[np.ndarray]:
    """Header and payload as arrays of bytes: a short one in one piece."""
    if frame.nbytes <= layout.INLINE:
        return [np.frombuffer(b"".join((frame.header, *frame.buffers)), BYTE)]
    return [np.frombuffer(part, BYTE) for part in (frame.header, *frame.buffers)]
