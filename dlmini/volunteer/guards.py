"""What keeps the server alive among strangers: a budget of requests for each, so many connections at a time, and a
deadline for every request and for whoever does not read his answer."""

from __future__ import annotations

import asyncio
import sys

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADERS = 10.0  # seconds in which a request's headers must have come
LINGER = 2.0  # seconds in which somebody who was refused may still send, unheard: else he would not hear why
UNREAD = 30.0  # seconds in which something of an answer must have been read
CONNECTIONS = 1000  # open at a time; half of them from one address at most, so that nobody shuts all others out
REPLY = b"HTTP/1.1 %d %s\r\ncontent-type: text/plain\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%s"
REFUSALS = {
    400: (b"Bad Request", b"this is no HTTP request\n"),
    408: (b"Request Timeout", b"the headers did not come in time; send the whole request at once\n"),
    431: (b"Request Header Fields Too Large", b"the headers are too long; 16 KB are read at most\n"),
    503: (b"Service Unavailable", b"the server ends; send it again when it is back\n"),
}
CROWDED = 503, b"Service Unavailable", b"too many connections are open; come again later\n"


class Budget:
    """A bucket of `most` requests that fills at `rate` a second, for each key. Keys that are full are forgotten."""

    def __init__(self, rate: float, most: float, keys: int = 10_000):
        self.rate, self.most, self.keys = rate, most, keys
        self.left: dict = {}  # key -> (requests left, when)

    def spend(self, key, at: float) -> bool:
        left, when = self.left.pop(key, (self.most, at))
        left = min(self.most, left + max(0.0, at - when) * self.rate)
        while len(self.left) >= self.keys:  # the one that was quiet longest
            self.left.pop(next(iter(self.left)))
        self.left[key] = (left - (left >= 1), at)
        return left >= 1


def connections() -> int:
    """How many may be open: some files must be left for everything else."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return CONNECTIONS
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return CONNECTIONS if most == resource.RLIM_INFINITY else min(CONNECTIONS, max(most // 2, most - 100))


class Patient(H11Protocol):
    """uvicorn's connection, but whoever sends headers byte by byte for ever is shown the door, as is who goes on
    sending when he has his answer, or does not read it; and whoever is refused while he still sends hears a status and
    a sentence: the connection is not cut before he could read them."""

    patience = HEADERS
    unread = UNREAD
    most: int | None = None  # connections
    timer = reader = None
    deaf = False

    def connection_made(self, transport) -> None:
        super().connection_made(transport)
        if self.crowded():
            self.deaf = True
            self.say(*CROWDED)
            self.go()
        else:
            self.expect()

    def crowded(self) -> bool:
        """Whether this one is too much, in all or of its address."""
        most, address = self.most or connections(), self.client and self.client[0]
        same = sum(1 for one in self.connections if (one.client and one.client[0]) == address)
        return len(self.connections) > most or same > most // 2

    def data_received(self, data: bytes) -> None:
        if self.deaf:
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and self.conn.our_state is h11.IDLE:
            if self.timer is None:
                self.expect()
        elif self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def expect(self) -> None:
        self.timer = asyncio.get_running_loop().call_later(self.patience, self.give_up)

    def give_up(self) -> None:
        self.refuse(408)

    def send_400_response(self, msg: str) -> None:
        """uvicorn calls it while it handles what h11 has found wrong."""
        self.refuse(getattr(sys.exc_info()[1], "error_status_hint", 400))

    def refuse(self, status: int) -> None:
        if self.transport.is_closing() or self.deaf:
            return
        status = status if status in REFUSALS else 400
        self.say(status, *REFUSALS[status])
        self.leave()

    def say(self, status: int, reason: bytes, said: bytes) -> None:
        self.transport.write(REPLY % (status, reason, len(said), said))

    def leave(self) -> None:
        """Say no more; what still comes is not heard, and a request that was half here is over."""
        self.deaf = True
        if self.transport.can_write_eof():
            self.transport.write_eof()
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        asyncio.get_running_loop().call_later(LINGER, self.go)

    def go(self) -> None:
        """Close, when what was written has been read; nobody waits for ever for that."""
        self.transport.close()
        self.look()

    def timeout_keep_alive_handler(self) -> None:
        self.go()

    def on_response_complete(self) -> None:
        """Where an answer was given before all of the body was here nobody waits for the rest of it."""
        early = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if self.transport.is_closing():
            self.look()
        elif early:
            self.leave()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.look()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.forget_reader()

    def look(self, before: int | None = None) -> None:
        """Whether some of the answer was read since the last look."""
        self.forget_reader()
        left = self.transport.get_write_buffer_size()
        if left == before:
            self.transport.abort()
        else:
            self.reader = asyncio.get_running_loop().call_later(self.unread, self.look, left)

    def forget_reader(self) -> None:
        if self.reader is not None:
            self.reader.cancel()
            self.reader = None

    def shutdown(self) -> None:
        """uvicorn calls it when the server ends: who has not sent all of his request is not waited for, and whoever
        does not read his answer is not for long."""
        asyncio.get_running_loop().call_later(LINGER, self.transport.abort)
        if self.conn.their_state is h11.SEND_BODY and self.conn.our_state is h11.SEND_RESPONSE:
            self.refuse(503)
        elif not self.deaf:
            super().shutdown()

    def connection_lost(self, exc) -> None:
        if self.timer is not None:
            self.timer.cancel()
        self.forget_reader()
        super().connection_lost(exc)
