"""The connections between ranks, for one run: one TCP connection each way between every two of them.

A rank listens at one port (ROUTER) and calls all others (DEALER). Who sends both ways over one connection takes twice
as long; over two it does not. Nobody says anything before both ends have proved who they are, by challenge and
response with a secret that the notebook gave to these two alone, for this run and this direction:

    caller -> listener     number of the caller's rank, nonce C
    listener -> caller     nonce L, and HMAC-SHA256(secret, "listener" C L)
    caller -> listener     HMAC-SHA256(secret, "caller" C L)

Encrypted, the keys of CURVE are those of this run too, and the doorkeeper lets no other caller say a byte. In the clear
strangers may talk, and nobody listens; the proof holds for the connection that gave it (libzmq numbers them, and none
is called anew). But who can change what passes on the wires could then speak in another's name: a network to trust.
Nothing is pickled here.
"""

from __future__ import annotations

import hmac
import secrets
import struct
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress

import zmq
from zmq.utils.monitor import recv_monitor_message

from dlmini.comm.classroom.key import pair_of
from dlmini.comm.classroom.protocol import Peer
from dlmini.comm.classroom.sockets import Bell, Doorkeeper, call_curve, serve_curve, settle
from dlmini.files import plainly

PART = 1 << 18  # bytes of one frame: so much is copied at once, while the part before it is on its way
NONCE = DIGEST = 32  # bytes
SECONDS = 10.0  # for all ranks to meet
SILENCE = 15.0  # seconds: the notebook notices lost PCs much sooner; this is for connections that break alone
STRANGERS = 1000  # callers who have not proved anything, of whom we remember the nonce
FAREWELL = 3_000  # milliseconds for the last letters to leave
RANK = struct.Struct("<I")


class Unreached(ConnectionError):
    """Some ranks do not answer: whom, by number."""

    def __init__(self, ranks: list[int]):
        super().__init__(f"no answer from rank {', '.join(map(str, ranks))}")
        self.ranks = ranks


class Mesh:
    """Rank `rank` of `size`: a door of its own at `port` (0: any that is free), and lines to all others."""

    def __init__(self, rank: int, size: int, encrypt: bool, port: int, bell: Bell):
        self.rank, self.size, self.bell = rank, size, bell
        self.own = pair_of(secrets.token_bytes(32)) if encrypt else None
        self.context, self.known = zmq.Context(), set()  # the keys of those who may call
        self.lines: dict[int, zmq.Socket | None] = {}  # by rank; None: it has gone
        self.monitors: dict[zmq.Socket, int] = {}
        self.sources: dict[bytes, int] = {}  # whose letters come by a connection that has been proved
        self.early: deque[tuple[int, bytes]] = deque()  # letters of those who were faster than others
        self.keeper = Doorkeeper(self.context, lambda address, key: key in self.known)
        self.door = settle(self.context.socket(zmq.ROUTER), PART, SILENCE)
        self.door.set(zmq.ROUTER_MANDATORY, 1)
        if encrypt:
            self.keeper.watch(self.door)
            serve_curve(self.door, self.own)
        self.port = bound(self.door, port)
        self.poller = zmq.Poller()
        for one in (self.door, bell.fileno()):
            self.poller.register(one, zmq.POLLIN)

    @property
    def public(self) -> bytes:
        return self.own.public if self.own else b""

    # ---- meeting ----

    def meet(self, peers: list[Peer], secrets_out: list[bytes], secrets_in: list[bytes], stop=lambda: None) -> None:
        """Call all others, be called by all others, prove and have it proved; Unreached if that takes too long."""
        self.known.update(peer.public for peer in peers)
        lines = {rank: self._call(rank, peers[rank]) for rank in self._all()}
        greetings = {rank: Greeting(line, self.rank, secrets_out[rank]) for rank, line in lines.items()}
        nonces: dict[bytes, tuple[int, bytes, bytes]] = {}
        poller, end = zmq.Poller(), time.monotonic() + SECONDS
        for one in (self.door, self.keeper.socket, *lines.values(), self.bell.fileno()):
            poller.register(one, zmq.POLLIN)
        while missing := {rank for rank, g in greetings.items() if not g.proved} | self._unheard():
            stop()
            if time.monotonic() > end:
                raise Unreached(sorted(missing))
            poller.poll(50)
            self.keeper.answer()
            for greeting in greetings.values():
                greeting.go_on()
            self._welcome(nonces, secrets_in)

    def _all(self) -> Iterator[int]:
        return (rank for rank in range(self.size) if rank != self.rank)

    def _unheard(self) -> set[int]:
        return set(self._all()) - set(self.sources.values())

    def _call(self, rank: int, peer: Peer) -> zmq.Socket:
        line = settle(self.context.socket(zmq.DEALER), PART, SILENCE)
        line.set(zmq.RECONNECT_IVL, -1)  # a connection that breaks has lost letters: nobody calls again
        if self.own:
            call_curve(line, self.own, peer.public)
        self.monitors[line.get_monitor_socket(zmq.EVENT_DISCONNECTED)] = rank
        line.connect(f"tcp://{peer.address}:{peer.port}")
        self.lines[rank] = line
        return line

    def _welcome(self, nonces: dict, secrets_in: list[bytes]) -> None:
        """Hear the callers, until nobody says anything or all have proved who they are: then come letters."""
        with suppress(zmq.Again):
            while self._unheard():
                caller, said, *more = self.door.recv_multipart(zmq.NOBLOCK)
                if more:
                    continue
                if caller in self.sources:
                    self.early.append((self.sources[caller], said))
                elif caller in nonces:
                    rank, theirs, mine = nonces.pop(caller)
                    if hmac.compare_digest(said, proof(secrets_in[rank], b"caller", theirs, mine)):
                        self.sources[caller] = rank
                elif len(said) == RANK.size + NONCE and len(nonces) < STRANGERS:
                    self._challenge(caller, said, nonces, secrets_in)

    def _challenge(self, caller: bytes, said: bytes, nonces: dict, secrets_in: list[bytes]) -> None:
        (rank,), theirs, mine = RANK.unpack_from(said), said[RANK.size :], secrets.token_bytes(NONCE)
        if rank in self._unheard():
            nonces[caller] = rank, theirs, mine
            with suppress(zmq.ZMQError):  # it has hung up
                self.door.send_multipart([caller, mine + proof(secrets_in[rank], b"listener", theirs, mine)])

    # ---- frames ----

    def send(self, dest: int, frame) -> None:
        """Copied at once, and on its way. To who has gone nothing is sent."""
        line = self.lines[dest]
        if line is not None:
            try:
                line.send(frame, zmq.NOBLOCK)
            except zmq.Again:  # libzmq gives a connection up that broke
                self.forget(dest)

    def take(self) -> tuple[int, object] | None:
        """(whose, frame), if one is here."""
        if self.early:
            return self.early.popleft()
        try:
            while True:
                caller, frame = self.door.recv(zmq.NOBLOCK), self.door.recv(copy=False)
                if frame.more:  # nobody of us says anything in several frames
                    self.door.recv_multipart()
                elif caller in self.sources:
                    return self.sources[caller], frame.buffer
        except zmq.Again:
            return None

    def wait(self, seconds: float) -> None:
        """For a frame, or the bell."""
        self.poller.poll(int(1e3 * seconds))

    def broken(self) -> list[int]:
        """To whom connections broke since the last look. And callers who came too late are sent away."""
        self.keeper.answer()
        found = []
        for monitor, rank in self.monitors.items():
            with suppress(zmq.Again):
                recv_monitor_message(monitor, zmq.NOBLOCK)
                found.append(rank)
        return found

    def heard_all_of(self, rank: int) -> bool:
        """Has the connection from there ended, and all that came by it been taken?"""
        callers = [caller for caller, source in self.sources.items() if source == rank]
        try:
            for caller in callers:
                self.door.send_multipart([caller, b""], zmq.NOBLOCK)
        except zmq.ZMQError:  # no such connection any more
            return True
        return not callers

    def forget(self, rank: int) -> None:
        """Nothing more is sent there."""
        line, self.lines[rank] = self.lines[rank], None
        if line is not None:
            monitor = next(m for m, r in self.monitors.items() if r == rank)
            del self.monitors[monitor]
            line.disable_monitor()
            monitor.close(0)
            line.close(0)

    def close(self, farewell: bool) -> None:
        """End all connections; with a farewell, what was sent leaves first."""
        for line in filter(None, self.lines.values()):
            line.disable_monitor()
            line.set(zmq.LINGER, FAREWELL if farewell else 0)
        for monitor in self.monitors:
            monitor.close(0)
        self.context.destroy()


class Greeting:
    """A caller's side of the proof, on one line."""

    def __init__(self, line: zmq.Socket, rank: int, secret: bytes):
        self.line, self.secret, self.mine, self.proved = line, secret, secrets.token_bytes(NONCE), False
        line.send(RANK.pack(rank) + self.mine)

    def go_on(self) -> None:
        with suppress(zmq.Again):
            said = self.line.recv(zmq.NOBLOCK)
            theirs, shown = said[:NONCE], said[NONCE:]
            if not self.proved and hmac.compare_digest(shown, proof(self.secret, b"listener", self.mine, theirs)):
                self.line.send(proof(self.secret, b"caller", self.mine, theirs))
                self.proved = True


def proof(secret: bytes, role: bytes, caller: bytes, listener: bytes) -> bytes:
    return hmac.digest(secret, role + caller + listener, "sha256")


def bound(door: zmq.Socket, port: int) -> int:
    """Listen at this port, or at any that is free; which."""
    try:
        door.bind(f"tcp://*:{port or '*'}")
    except zmq.ZMQError as error:
        raise OSError(f"port {port} cannot be listened at ({plainly(error)}); name another, or none") from error
    return int(door.get_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
