"""What all sockets of a room have in common: how they are set, how they wake, who may speak, messages in parts."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from contextlib import suppress

import zmq
from zmq.utils import z85

from dlmini.comm.classroom.key import Pair

HANDSHAKE = 5_000  # milliseconds in which who has called must have shown a key
SOME = 1 << 16  # bytes of one frame between notebook and PC: a heartbeat never waits behind more
SLACK = 1 << 10  # a frame's own head
WAITING = 1 << 17  # bytes that the system keeps for a connection: the same, one floor below
DOMAIN = b"dlmini"


def settle(sock: zmq.Socket, most: int, silence: float) -> zmq.Socket:
    """Nothing is dropped because there is much of it; no frame is longer than `most`; who is silent is hung up on.

    libzmq's own thread asks and answers heartbeats: also while this process computes. Who has not answered after
    `silence` seconds is gone: asked within 0.2 of it, given up 0.6 later, noticed 0.1 s after that.
    """
    for option in (zmq.SNDHWM, zmq.RCVHWM, zmq.LINGER):
        sock.set(option, 0)
    sock.set(zmq.MAXMSGSIZE, most + SLACK)
    sock.set(zmq.HANDSHAKE_IVL, HANDSHAKE)
    sock.set(zmq.HEARTBEAT_IVL, max(1, int(200 * silence)))
    sock.set(zmq.HEARTBEAT_TIMEOUT, max(1, int(600 * silence)))
    return sock


def serve_curve(sock: zmq.Socket, own: Pair) -> None:
    """Callers must know our public key, and the doorkeeper theirs."""
    sock.set(zmq.CURVE_SERVER, 1)
    sock.set(zmq.CURVE_SECRETKEY, own.secret)


def call_curve(sock: zmq.Socket, own: Pair, server: bytes) -> None:
    sock.set(zmq.CURVE_SERVERKEY, server)
    sock.set(zmq.CURVE_PUBLICKEY, own.public)
    sock.set(zmq.CURVE_SECRETKEY, own.secret)


class Bell:
    """Wakes a thread that waits for sockets; any thread may ring it."""

    def __init__(self):
        self.ear, self.rope = socket.socketpair()
        for end in (self.ear, self.rope):
            end.setblocking(False)

    def fileno(self) -> int:
        return self.ear.fileno()

    def ring(self) -> None:
        with suppress(OSError):  # it rings already, or nobody listens any more
            self.rope.send(b"!")

    def hush(self) -> None:
        with suppress(BlockingIOError):
            while self.ear.recv(4096):
                pass

    def close(self) -> None:
        self.ear.close()
        self.rope.close()


class Doorkeeper:
    """Says of every connection, before its first message is read, whether it may speak (ZeroMQ's RFC 27).

    may(address, key): `key` is the caller's public key, empty where nothing is encrypted. Bind it before the door.
    """

    def __init__(self, context: zmq.Context, may: Callable[[str, bytes], bool]):
        self.may, self.socket = may, context.socket(zmq.REP)
        self.socket.set(zmq.LINGER, 0)
        self.socket.bind("inproc://zeromq.zap.01")

    def watch(self, door: zmq.Socket) -> None:
        """Nobody passes this door unasked."""
        door.set(zmq.ZAP_DOMAIN, DOMAIN)
        door.set(zmq.ZAP_ENFORCE_DOMAIN, 1)

    def answer(self) -> None:
        """All questions that wait."""
        with suppress(zmq.Again):
            while True:
                version, number, _, address, _, _, *shown = self.socket.recv_multipart(zmq.NOBLOCK)
                fine = self.may(address.decode(errors="replace"), z85.encode(shown[0]) if shown else b"")
                status = (b"200", b"OK") if fine else (b"400", b"wrong key")
                self.socket.send_multipart([version, number, *status, b"", b""])


# ---- messages between notebook and PC: kind, number of the run, length; then bytes until that is reached ----

HEAD = struct.Struct("<BIQ")


def frames(kind: int, run: int, data=b"") -> list:
    """A message in frames of which none is long; the data are not copied."""
    view = memoryview(data)
    if len(view) <= SOME:
        return [HEAD.pack(kind, run, len(view)) + bytes(view)]
    return [HEAD.pack(kind, run, len(view)), *(view[at : at + SOME] for at in range(0, len(view), SOME))]


class Together:
    """The frames of one sender, together again."""

    def __init__(self, most: int):
        self.most, self.head, self.data = most, None, bytearray()

    def add(self, frame: bytes) -> tuple[int, int, bytes] | None:
        """(kind, run, data) when a message is whole. A ValueError if these are no frames of ours."""
        if self.head is None:
            if len(frame) < HEAD.size:
                raise ValueError(f"a frame of {len(frame)} bytes, where a message should begin")
            self.head, frame = HEAD.unpack_from(frame), frame[HEAD.size :]
            if self.head[2] > self.most:
                raise ValueError(f"a message of {self.head[2]} bytes, where {self.most} are the most")
        self.data += frame
        kind, run, length = self.head
        if len(self.data) < length:
            return None
        if len(self.data) > length:
            raise ValueError(f"a message of {length} bytes that goes on behind its end")
        whole, self.head, self.data = bytes(self.data), None, bytearray()
        return kind, run, whole
