"""The letters of one rank: how they become frames and letters again, what has come, who has finished or died.

frame       envelope (wire.py), payload, header         a whole letter, if it is small
frames      envelope; then payload and header, cut      a long one: the receiver puts each part where it belongs
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dlmini.comm import arrays, wire
from dlmini.comm.channels import ANY
from dlmini.comm.classroom.mesh import PART, Mesh
from dlmini.comm.mailboxes import Mailboxes
from dlmini.comm.wire import ENVELOPE, Envelope

FINISHED = -(2**31)  # a channel that neither programs nor collectives use: the last letter of every rank
TICK = 0.1  # seconds after which who waits looks around
DRAIN = 0.5  # seconds for what a dead rank sent and is still on its way


class Letter(NamedTuple):
    source: int
    channel: int
    sent: float
    header: bytes
    payload: object

    def message(self):
        if plain := arrays.read(self.header):
            return np.ndarray(*plain, self.payload)
        return wire.unpack(self.header, self.payload)


class Coming:
    """A long letter, of which a part is here."""

    def __init__(self, source: int, envelope: Envelope):
        self.source, self.envelope, self.at = source, envelope, 0
        self.data = memoryview(np.empty(envelope.payload + envelope.header, np.uint8))

    def add(self, part) -> bool:
        """Is it whole now?"""
        end = self.at + len(part)
        self.data[self.at : end] = part
        self.at = end
        return end == len(self.data)

    def letter(self) -> Letter:
        channel, sent, _, length, *_ = self.envelope
        return Letter(self.source, channel, sent, bytes(self.data[length:]), self.data[:length])


class Letters(Mailboxes):
    """What one rank has sent and received; of the latter, what is not taken yet."""

    def __init__(self, mesh: Mesh):
        super().__init__(mesh.rank, mesh.size)
        self.mesh, self.sent, self.received = mesh, [0] * self.size, [0] * self.size
        self.coming: dict[int, Coming] = {}

    # ---- sending ----

    def post(self, channel: int, message, now: float, *dests: int) -> int:
        """Send without waiting; the message's weight."""
        header = arrays.header_of(message)
        if header is not None:
            buffers, length = (message.reshape(-1).view(np.uint8).data,), message.nbytes
            weight = length
        else:
            header, buffers, weight = wire.pack(message)
            length = sum(map(len, buffers))
        for dest in dests:
            if dest == self.rank:
                self.file(Letter(dest, channel, now, header, bytearray().join(buffers)))
            elif dest not in self.lost:
                self.sent[dest] += 1
                self._send(dest, Envelope(channel, now, len(header), length).to_bytes(), buffers, header, length)
        return weight

    def _send(self, dest: int, envelope: bytes, buffers, header: bytes, length: int) -> None:
        if length + len(header) <= PART:
            self.mesh.send(dest, b"".join((envelope, *buffers, header)))
            return
        self.mesh.send(dest, envelope)
        for buffer in (*buffers, header) if len(buffers) == 1 else (bytearray().join((*buffers, header)),):
            for at in range(0, len(buffer), PART):
                self.mesh.send(dest, memoryview(buffer)[at : at + PART])

    # ---- receiving ----

    def read(self) -> bool:
        """Take in all frames that are here; was there one?"""
        found = False
        while (taken := self.mesh.take()) is not None:
            self._take_in(*taken)
            found = True
        return found

    def _take_in(self, source: int, frame) -> None:
        if source in self.ended:
            return
        coming = self.coming.get(source)
        if coming is None:
            envelope = Envelope.from_bytes(frame)
            if len(frame) > ENVELOPE:
                end = ENVELOPE + envelope.payload
                header, payload = bytes(frame[end:]), bytearray(frame[ENVELOPE:end])
                self._come(Letter(source, envelope.channel, envelope.sent, header, payload))
            else:
                self.coming[source] = Coming(source, envelope)
        elif coming.add(frame):
            del self.coming[source]
            self._come(coming.letter())

    def _come(self, letter: Letter) -> None:
        self.received[letter.source] += 1
        if letter.channel == FINISHED:
            self.ended.add(letter.source)
        else:
            self.come(letter)

    # ---- deaths and the end ----

    def lose(self, rank: int) -> None:
        """It has died. What it sent before and has reached this PC is taken; of a letter that is torn, nothing."""
        end = time.monotonic() + DRAIN
        while rank not in self.ended and time.monotonic() < end:
            if not self.read() and self.mesh.heard_all_of(rank):
                break
            self.mesh.wait(TICK / 10)
        self.coming.pop(rank, None)
        self.ended.add(rank)
        self.lost.add(rank)
        self.mesh.forget(rank)

    def finish(self, wait: Callable[[], None]) -> dict[tuple[int, int], int]:
        """Say that nothing more comes, wait until all have; how many letters lie unread, by source and channel."""
        self.post(FINISHED, None, 0.0, *(other for other in range(self.size) if other != self.rank))
        while self.expects(ANY):
            wait()
        return self.unread()
