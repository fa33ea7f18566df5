"""Messages over MPI, as buffers: what is sent and not yet taken, what has come and is not yet read.

Channels have more bits than MPI's tags, so MPI moves only three kinds of message, and the mailboxes are kept here:

    HEAD   envelope, payload, header: a whole letter, if it is small
    BODY   a part of a large payload, received straight into the memory that becomes the array
    NOW    from the receiver of a large letter back to its sender: I wait for this one, and do nothing else until I
           have it

MPI keeps the order of messages of one kind between two ranks, so bodies come in the order of their heads.

A send copies its payload (it is the sender's again when `send` returns) and keeps that copy until MPI has taken it.
A large one is copied in parts that grow, each on its way at once. If meanwhile the receiver says NOW, the others are
not copied: the receiver takes them out of the sender's own memory, and `send` returns when it has them. It waits for
nobody who does not wait for it. MPI moves bytes only inside its calls: while a rank computes, a large letter from it
may stand still.

The next HEAD comes into a buffer that MPI fills by itself: to look for it is one call, of a fraction of a microsecond.
"""

from __future__ import annotations

import os
import struct
import time
from collections import defaultdict, deque
from collections.abc import Callable

import numpy as np
from mpi4py import MPI

from dlmini.comm import arrays, wire
from dlmini.comm.mpi.parts import FIRST, copied, cut, placed

HEAD, BODY, NOW = 1, 2, 3
SMALL = 1 << 14  # bytes: up to here copying a letter once more is cheaper than a second message
EAGER = 1e-4  # seconds of waiting without a pause between looks
KEEN, PAUSE = 5e-4, 1e-3  # until then giving the core away between looks; then sleeping, at most so long
KEEN_MOVING, PAUSE_MOVING = 2e-2, 1e-4  # the same while bytes are under way, which move only when we look
yield_core = getattr(os, "sched_yield", lambda: time.sleep(0))

# channel (high and low half), time of sending, lengths of payload and header, from whom, its how manieth large one
ENVELOPE, ASKED = struct.Struct("<qQdQIIQ"), struct.Struct("<QI")
LOW, ASKED_FOR = 2**64 - 1, 0  # large letters are numbered from 1


class Letter:
    """A message that has come, or whose payload is on its way: then `requests` are MPI's promises of its parts."""

    __slots__ = ("header", "number", "order", "payload", "requests", "sent")

    def __init__(self, order: int, sent: float, header, payload, requests: list[MPI.Request], number: int):
        self.order, self.sent, self.header, self.payload = order, sent, header, payload
        self.requests, self.number = requests, number

    def here(self) -> bool:
        while self.requests and self.requests[-1].Test():
            self.requests.pop()
        return not self.requests

    def open(self) -> tuple[object, float]:
        header = bytes(self.header)
        if plain := arrays.read(header):
            return np.ndarray(*plain, self.payload), self.sent
        return wire.unpack(header, self.payload), self.sent


class Mail:
    """The letters of one rank."""

    def __init__(self, mpi: MPI.Comm):
        self.mpi, self.rank, self.fetched, self.large = mpi, mpi.rank, 0, 0
        self.going = defaultdict(deque)  # by destination: (request, the bytes it still needs)
        self.coming: dict[int, Letter] = {}  # by order: those not yet taken whose payload is on its way
        self.wanted: tuple[int, int] | None = None  # source and channel, while this rank waits for them alone
        self.boxes = defaultdict(lambda: defaultdict(deque))  # by channel, then source: letters in their order
        self.head, self.next = self._standing(ENVELOPE.size + SMALL, HEAD)
        self.asked, self.asking = self._standing(ASKED.size, NOW)

    def _standing(self, nbytes: int, kind: int) -> tuple[memoryview, MPI.Prequest]:
        """A buffer for the next message of a kind, from anybody, and MPI's promise to fill it."""
        buffer = memoryview(bytearray(nbytes))
        request = self.mpi.Recv_init([buffer, MPI.BYTE], MPI.ANY_SOURCE, kind)
        request.Start()
        return buffer, request

    # ---- sending ----

    def post(self, dest: int, channel: int, message, sent: float) -> int:
        """Send without waiting; the message's weight."""
        header = arrays.header_of(message)
        if header is not None:
            buffers, length = (message,), message.nbytes
            weight = length
        else:
            header, buffers, weight = wire.pack(message)
            length = sum(map(len, buffers))
        if dest == self.rank:
            self._file(dest, channel, sent, header, bytearray().join(buffers), [])
            return weight
        self.large += length + len(header) > SMALL
        envelope = ENVELOPE.pack(channel >> 64, channel & LOW, sent, length, len(header), self.rank, self.large)
        if length + len(header) <= SMALL:
            self._start(dest, HEAD, b"".join((envelope, *buffers, header)))
        else:
            self._start_large(dest, envelope, header, buffers)
        return weight

    def _start_large(self, dest: int, envelope: bytes, header: bytes, buffers) -> None:
        if len(header) <= SMALL:
            self._start(dest, HEAD, envelope + header)
        else:
            self._start(dest, HEAD, envelope)
            self._start(dest, BODY, header)
        left = deque(cut(buffers[0] if len(buffers) == 1 else bytearray().join(buffers)))
        while left and not self._waits(dest):
            self._start(dest, BODY, copied(left.popleft()))
        if left:
            self._hand_over(dest, left)

    def _waits(self, dest: int) -> bool:
        """Does the receiver of my last large letter wait for it, and for nothing else?"""
        while self.asking.Test():
            number, who = ASKED.unpack(self.asked)
            self.asking.Start()
            if (number, who) == (self.large, dest):
                return True
        return False

    def _hand_over(self, dest: int, left: deque) -> None:
        """The sender's memory itself, to one who takes it now."""
        going = self.going[dest]
        going.extend((self.mpi.Isend([part, MPI.BYTE], dest, BODY), part) for part in left)
        self.until(lambda: all_taken(going))

    def _start(self, dest: int, kind: int, data) -> None:
        going, request = self.going[dest], self.mpi.Isend([data, MPI.BYTE], dest, kind)
        if going or not request.Test():
            going.append((request, data))
            forget_taken(going)

    # ---- receiving ----

    def fetch(self) -> bool:
        """Take in one letter, if one is there."""
        if not self.next.Test():
            return False
        high, low, sent, length, size, source, number = ENVELOPE.unpack_from(self.head)
        channel, rest = (high << 64) + low, self.head[ENVELOPE.size :]
        if length + size <= SMALL:
            header, payload, requests = bytes(rest[length : length + size]), bytearray(rest[:length]), []
            self.next.Start()
        else:
            if self.wanted == (source, channel) and length > FIRST:
                self._ask(source, number)
                number = ASKED_FOR
            header, payload = bytearray(rest[:size] if size <= SMALL else size), placed(length, 0)
            self.next.Start()
            requests = [self.mpi.Irecv([header, MPI.BYTE], source, BODY)] if size > SMALL else []
            requests += [self.mpi.Irecv([part, MPI.BYTE], source, BODY) for part in cut(payload)]
        self._file(source, channel, sent, header, payload, requests, number)
        return True

    def _file(self, source: int, channel: int, sent: float, header, payload, requests, number: int = 0) -> None:
        letter = Letter(self.fetched, sent, header, payload, requests, number)
        self.fetched += 1
        self.boxes[channel][source].append(letter)
        if requests:
            self.coming[letter.order] = letter

    def take(self, source: int, box: deque[Letter]) -> tuple[object, float]:
        """The first letter of a box, when all of it is here; nothing of it is kept."""
        if box[0].requests:
            self._finish(source, box[0])
        letter = box.popleft()
        self.coming.pop(letter.order, None)
        return letter.open()

    def _finish(self, source: int, letter: Letter) -> None:
        """Wait until all of it is here, and let the sender know that somebody waits."""
        if len(letter.requests) > 1 and letter.number != ASKED_FOR:  # else it is on its way already
            self._ask(source, letter.number)
        self.until(letter.here)

    def _ask(self, source: int, number: int) -> None:
        self._start(source, NOW, ASKED.pack(number, self.rank))

    def here(self, channel: int) -> list[int]:
        """The sources from which a letter is here, first come first."""
        boxes = self.boxes[channel]
        return sorted((s for s in boxes if boxes[s] and boxes[s][0].here()), key=lambda s: boxes[s][0].order)

    def unread(self) -> dict[tuple[int, int], int]:
        """(source, channel): how many letters."""
        boxes = ((source, channel, box) for channel, found in self.boxes.items() for source, box in found.items())
        return {(source, channel): len(box) for source, channel, box in boxes if box}

    def close(self) -> None:
        """No message will come any more: MPI lets go of the buffers."""
        while self.asking.Test():  # what was asked too late
            self.asking.Start()
        for request in (self.next, self.asking):
            request.Cancel()
            request.Wait()
            request.Free()

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

    def await_from(self, source: int, channel: int, ready: Callable) -> None:
        """The same, for a letter that is taken next, come what may: if it is large, its sender hears so at once."""
        self.wanted = source, channel
        try:
            self.until(ready)
        finally:
            self.wanted = None

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
        self.coming = {order: letter for order, letter in self.coming.items() if not letter.here()}
        return bool(self.coming) or any(self.going.values())


def forget_taken(going: deque) -> None:
    """MPI no longer needs these copies."""
    while going and going[0][0].Test():
        going.popleft()


def all_taken(going: deque) -> bool:
    forget_taken(going)
    return not going
