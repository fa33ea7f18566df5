"""Messages over MPI, as buffers: what is sent and not yet taken, what has come and is not yet read.

Channels have more bits than MPI's tags, so MPI moves only two kinds of message, and the mailboxes are kept here:

    HEAD   envelope, payload, header: a whole letter, if its payload is small
    BODY   a large payload alone, or a part of it, received straight into the memory that becomes the array

MPI keeps the order of messages of one kind between two ranks, so bodies come in the order of their heads.

A send copies its payload once (it is the sender's again when `send` returns) and keeps that copy until MPI has taken
it. MPI moves bytes only inside its calls: while a rank computes, a large letter from it may stand still.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict, deque
from collections.abc import Callable

import numpy as np
from mpi4py import MPI

from dlmini.comm import wire

HEAD, BODY = 1, 2
SMALL = 1 << 14  # bytes: up to here copying the payload once more is cheaper than a second message
PART = 1 << 30  # bytes of a body at most: MPI counts in C's int
EAGER = 1e-4  # seconds of waiting without a pause between looks
KEEN, PAUSE = 5e-4, 1e-3  # until then giving the core away between looks; then sleeping, at most so long
KEEN_MOVING, PAUSE_MOVING = 2e-2, 1e-4  # the same while bytes are under way, which move only when we look
yield_core = getattr(os, "sched_yield", lambda: time.sleep(0))


class Letter:
    """A message that has come, or whose payload is on its way: then `requests` are MPI's promises of its parts."""

    __slots__ = ("header", "order", "payload", "requests", "sent")

    def __init__(self, order: int, sent: float, header: bytes, payload, requests: list[MPI.Request]):
        self.order, self.sent, self.header, self.payload, self.requests = order, sent, header, payload, requests

    def here(self) -> bool:
        while self.requests and self.requests[-1].Test():
            self.requests.pop()
        return not self.requests

    def open(self) -> tuple[object, float]:
        return wire.unpack(self.header, self.payload), self.sent


class Mail:
    """The letters of one rank."""

    def __init__(self, mpi: MPI.Comm):
        self.mpi, self.fetched, self.status = mpi, 0, MPI.Status()
        self.going = defaultdict(deque)  # by destination: (request, the bytes it still needs)
        self.coming: list[Letter] = []  # those whose payload is on its way
        self.boxes = defaultdict(lambda: defaultdict(deque))  # by channel, then source: letters in their order

    # ---- sending ----

    def post(self, dest: int, channel: int, message, sent: float) -> int:
        """Send without waiting; the message's weight."""
        frame = wire.pack(message)
        length = sum(map(len, frame.buffers))
        envelope = wire.Envelope(channel, sent, len(frame.header), length)
        if dest == self.mpi.rank:
            self._file(dest, envelope, frame.header, frame.payload(), [])
        elif length <= SMALL:
            self._start(dest, HEAD, b"".join([envelope.to_bytes(), *frame.buffers, frame.header]))
        else:
            self._start(dest, HEAD, envelope.to_bytes() + frame.header)
            for part in parts(frame.payload()):
                self._start(dest, BODY, part)
        return frame.nbytes

    def _start(self, dest: int, kind: int, data: bytes | memoryview) -> None:
        going = self.going[dest]
        going.append((self.mpi.Isend([data, MPI.BYTE], dest, kind), data))
        forget_taken(going)

    # ---- receiving ----

    def fetch(self) -> bool:
        """Take in one letter, if one is there."""
        found = self.mpi.Improbe(MPI.ANY_SOURCE, HEAD, self.status)
        if found is None:
            return False
        source, head = self.status.source, bytearray(self.status.Get_count(MPI.BYTE))
        found.Recv([head, MPI.BYTE])
        envelope, rest = wire.Envelope.from_bytes(head), memoryview(head)[wire.ENVELOPE :]
        inside = len(rest) - envelope.header
        payload, header, requests = rest[:inside], bytes(rest[inside:]), []
        if inside < envelope.payload:
            payload = np.empty(envelope.payload, np.uint8)
            requests = [self.mpi.Irecv([part, MPI.BYTE], source, BODY) for part in parts(payload)]
        self._file(source, envelope, header, payload, requests)
        return True

    def _file(self, source: int, envelope: wire.Envelope, header: bytes, payload, requests: list[MPI.Request]) -> None:
        letter = Letter(self.fetched, envelope.sent, header, payload, requests)
        self.fetched += 1
        self.boxes[envelope.channel][source].append(letter)
        if requests:
            self.coming.append(letter)

    def here(self, channel: int) -> list[int]:
        """The sources from which a letter is here, first come first."""
        boxes = self.boxes[channel]
        return sorted((s for s in boxes if boxes[s] and boxes[s][0].here()), key=lambda s: boxes[s][0].order)

    def unread(self) -> dict[tuple[int, int], int]:
        """(source, channel): how many letters."""
        boxes = ((source, channel, box) for channel, found in self.boxes.items() for source, box in found.items())
        return {(source, channel): len(box) for source, channel, box in boxes if box}

    # ---- waiting ----

    def until(self, ready: Callable):
        """Take in letters until ready() is true, and return what it said.

        Without pause at first; then giving the core away between looks; then with sleeps, each a tenth of the time
        waited so far, up to a limit: ranks that compute have the cores to themselves, and a wait grows by a tenth.
        """
        began = time.perf_counter()
        while not (found := ready()):
            if not self.fetch():
                self._rest(time.perf_counter() - began)
        return found

    def _rest(self, waited: float) -> None:
        if waited < EAGER:
            return
        keen, pause = (KEEN_MOVING, PAUSE_MOVING) if self.moving() else (KEEN, PAUSE)
        if waited < keen:
            yield_core()
        else:
            time.sleep(min(waited / 10, pause))

    def moving(self) -> bool:
        """Are bytes under way, from here or to here?"""
        for going in self.going.values():
            forget_taken(going)
        self.coming = [letter for letter in self.coming if not letter.here()]
        return bool(self.coming) or any(self.going.values())


def parts(payload: bytearray | np.ndarray) -> list[memoryview]:
    view = memoryview(payload)
    return [view[at : at + PART] for at in range(0, len(view), PART)]


def forget_taken(going: deque) -> None:
    """MPI no longer needs these copies."""
    while going and going[0][0].Test():
        going.popleft()
