"""Comm: all that a program sees of the other ranks. Blocking calls, mpi4py's vocabulary, no `async`.

A transport subclasses `Comm`, supplies six small hooks (those that raise NotImplementedError here) and inherits all
else. The hooks move messages and time; bytes and seconds are booked here (booking.py) and nowhere else.

Sends are buffered: they never wait for the receiver, and the message is the sender's again when `send` returns.
Messages of one (source, tag) arrive in the order they were sent.
"""

from __future__ import annotations

import os
import time
from math import inf

from dlmini.checks import real, refuse, text, whole
from dlmini.comm.booking import Booking
from dlmini.comm.channels import ANY, WORLD, checked_tag
from dlmini.comm.collectives import Collectives
from dlmini.events import Event, stamped

GIVEN_UP = 4  # the exit code of a rank that has given itself up
ROUNDING = 1e-9  # by which a sum of shares may be above 1
NAP = 0.0005  # seconds between two looks of who waits for a limited time


class Comm(Booking, Collectives):
    """The whole world of `size` ranks, seen from `rank`."""

    __slots__ = ("_job", "rank", "size")
    context = WORLD
    life = 0  # how often this rank has died and come back

    def __init__(self, rank: int, size: int):
        super().__init__(rank)
        self.rank, self.size = rank, size
        self._job: list | None = None  # the local work going on: its label, its flops, how much of it is charged

    # ---- hooks: a transport supplies these ----

    def now(self) -> float:
        """Seconds on this rank's clock; clocks of different ranks are aligned."""
        raise NotImplementedError

    def _post(self, dest: int, channel: int, message) -> int:
        """Send without waiting for the receiver; return the message's weight (`wire.pack(message).nbytes`)."""
        raise NotImplementedError

    def _take(self, source: int, channel: int) -> tuple[object, float]:
        """Wait for the next message of this source and channel: (message, time at which its send was called)."""
        raise NotImplementedError

    def _take_any(self, channel: int) -> tuple[int, object, float]:
        """Wait for the first message of this channel from anybody: (source, message, time of its send)."""
        raise NotImplementedError

    def _ready(self, source: int, channel: int) -> bool:
        """Would a receive return at once? `source` may be ANY."""
        raise NotImplementedError

    def _ready_within(self, channel: int, seconds: float) -> bool:
        """Will a receive from anybody return at once, within so many seconds? Not a sleep: nobody is waited for."""
        end = self.now() + seconds
        while not (found := self._ready(ANY, channel)) and (rest := end - self.now()) > 0:
            time.sleep(min(NAP, rest))
        return found

    def _tell(self, event: Event) -> None:
        """Hand a stamped event to the parent."""
        raise NotImplementedError

    def _charge(self, label: str, flops: float, share: float = 1.0) -> None:
        """Let virtual time pass for a share of some local work. Where time is real there is nothing to do."""

    def _charge_sum(self, nbytes: int) -> None:
        """Let virtual time pass for adding `nbytes` inside a collective."""

    # ---- verbs ----

    def send(self, dest: int, message, tag: int = 0) -> None:
        """Buffered: returns at once, and the message may then be changed."""
        if type(dest) is not int or not 0 <= dest < self.size:
            dest = self._checked(dest, "send to")
        if type(tag) is not int or not 0 <= tag < 2**31:
            tag = checked_tag(tag)
        self._send(dest, message, tag)

    def recv(self, source: int, tag: int = 0):
        """The next message of this source and tag, in the order they were sent."""
        if type(source) is not int or not 0 <= source < self.size:
            source = self._checked(source, "receive from")
        if type(tag) is not int or not 0 <= tag < 2**31:
            tag = checked_tag(tag)
        if self._unfinished:
            self._work_until(source, tag)
        return self._recv(source, tag)

    def recv_any(self, tag: int = 0) -> tuple[int, object]:
        """(source, message): whoever's message with this tag is here first."""
        if self._unfinished:
            self._work_until(ANY, checked_tag(tag))
        return self._recv_any(checked_tag(tag))

    def poll(self, source: int = ANY, tag: int = 0) -> bool:
        """Is a message here, so that receiving it would not wait?"""
        if type(source) is not int or source != ANY:
            source = self._checked(source, "poll")
        return self._poll(source, checked_tag(tag))

    def arrives(self, seconds: float, tag: int = 0) -> bool:
        """Wait until a message with this tag is here, whoever sent it; but no longer than so many seconds. Is one?"""
        return self._arrives(real(seconds, "seconds", least=0), checked_tag(tag))

    def gone(self) -> frozenset[int]:
        """Ranks that have died, as far as this one knows; always none where a death ends the run (`launch`, may_die).

        To the dead one may send, and nothing becomes of it. A receive from a dead rank raises DeadRank, when all that
        it sent has been taken. A receive from anybody that would wait raises it too, once for each death.
        """
        return frozenset()

    def give_up(self):
        """End here, as if this rank's machine had crashed: to the others it is dead. It does not return.

        For who cannot go on without a rank that has died, where others can do without both (`launch`, may_die).
        """
        os._exit(GIVEN_UP)

    def compute(self, label: str, fn, *args, flops: float = 0.0):
        """fn(*args) as local work, and its result. What it communicates inside is booked as that, not as compute.

        The simulator charges `flops`, or what its cluster says that `label` costs; fn may be None: only the cost.
        """
        if type(flops) is not float or not 0 <= flops < inf or type(label) is not str:
            label, flops = text(label, "label"), real(flops, "flops", least=0, hint="operations of this work")
        if fn is not None and not callable(fn):
            refuse(TypeError, "fn", fn, "a function that does the work, or None where only its cost matters")
        start = self.now()
        if self._work is not None:
            self._pause_work(start, start)
        outer, self._work = self._work, (label, start)
        around, self._job = self._job, [label, flops, 0.0]
        try:
            result = fn(*args) if fn is not None else None
            self._charge(label, flops, 1.0 - self._job[2])
        finally:
            end = self.now()
            self._pause_work(end, end)
            self._work, self._job = outer and (outer[0], end), around
        return result

    def reached(self, share: float) -> None:
        """Inside `compute`: this share of the work, from 0 to 1, is done. It is charged now, and not at the end.

        What was posted meanwhile (`allreduce(wait=False)`) goes on beside the rest; on real transports it is here that
        the rank works on it, as far as messages have come.
        """
        if type(share) is not float or not 0 <= share <= 1:
            done = isinstance(share, float) and 1 < share < 1 + ROUNDING
            share = 1.0 if done else real(share, "share", least=0, most=1, hint="how much of this work is done")
        if self._job is not None and share > self._job[2]:
            label, flops, before = self._job
            self._job[2] = share
            self._charge(label, flops, share - before)
        self._work_on_posted()

    def emit(self, event: Event) -> None:
        """Tell the notebook. Free of cost, not a message; nobody waits until it is heard (but see event_sender.py)."""
        self._tell(stamped(event, self.rank, self.now(), self.phases, self.ledger.total()))

    # ---- the same, unchecked, for the collectives; a Group translates them ----

    def _send(self, dest: int, message, channel: int) -> None:
        called = self.now()
        nbytes = self._post(dest, channel, message)
        self._book_sent(self.ledger.line(dest, channel), nbytes, called, self.now())

    def _recv(self, source: int, channel: int):
        called = self.now()
        message, sent = self._take(source, channel)
        self._book_received(called, sent, self.now())
        return message

    def _recv_any(self, channel: int) -> tuple[int, object]:
        called = self.now()
        source, message, sent = self._take_any(channel)
        self._book_received(called, sent, self.now())
        return source, message

    def _poll(self, source: int, channel: int) -> bool:
        called = self.now()
        found = self._ready(source, channel)
        self._book_time(called, called, self.now())
        return found

    def _arrives(self, seconds: float, channel: int) -> bool:
        called = self.now()
        found, left = self._ready_within(channel, seconds), self.now()
        self._book_time(called, left, left)
        return found

    def _checked(self, rank: int, what: str) -> int:
        rank = whole(rank, f"the rank to {what}")
        if 0 <= rank < self.size:
            return rank
        raise ValueError(f"rank {self.rank} wants to {what} rank {rank}, but the ranks are 0 ... {self.size - 1}")
