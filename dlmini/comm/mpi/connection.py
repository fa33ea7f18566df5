"""The line between the notebook and a rank: one TCP connection, pickles with their length in front.

It carries the program there and events, result or traceback back; and each end learns from it, at once, that the
other is gone. Pickles can do anything to who reads them, so before the first one both ends show that they have the key
of this run, by challenge and response; the key itself stays where it is:

    notebook -> rank    nonce N, 32 bytes drawn for this call
    rank -> notebook    nonce R, and HMAC-SHA256(key, "rank" N R)
    notebook -> rank    HMAC-SHA256(key, "home" N R)

*What it protects against:* strangers who can reach the port. They get neither the program nor a byte unpickled, whether
they guess, are silent, send junk, repeat what they have recorded (the nonces are new each time) or throw back what they
are sent (the two answers differ). Each has SECONDS and a fixed number of bytes. A rank that is lured to a false home
refuses it likewise. *What not:* nothing is encrypted, and nothing after the handshake is signed: who can read or change
what passes on the network between the hosts sees programs and results, and could take over a line. MPI's own messages
pass in the clear too; between hosts use a network that you trust. And whoever may read the environment of your
processes (you, and root) has the key.

Not multiprocessing.connection's handshake: up to Python 3.11 that is HMAC-MD5, compared in a time that depends on the
bytes, and it waits for ever for a caller who is silent. Bellare, Canetti, Krawczyk, Keying hash functions for message
authentication, CRYPTO 1996; RFC 2104.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct
import time
from contextlib import suppress

import cloudpickle

LENGTH = struct.Struct("<Q")
NONCE = DIGEST = 32  # bytes
SECONDS = 10.0  # for the whole handshake


class Connection:
    """send(anything) and recv(): EOFError when the other end is gone."""

    def __init__(self, link: socket.socket):
        link.settimeout(None)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._link, self._file = link, link.makefile("rb")

    def send(self, message) -> None:
        data = cloudpickle.dumps(message)
        self._link.sendall(LENGTH.pack(len(data)))
        self._link.sendall(data)

    def recv(self):
        return cloudpickle.loads(self.recv_bytes())

    def recv_bytes(self) -> bytes:
        (length,) = LENGTH.unpack(self._read(LENGTH.size))
        return self._read(length)

    def _read(self, length: int) -> bytes:
        try:
            data = self._file.read(length)
        except OSError as error:
            raise EOFError("the line is broken") from error
        if len(data) < length:
            raise EOFError("the other end has hung up")
        return data

    def close(self) -> None:
        """Wakes whoever waits in recv, here and there."""
        with suppress(OSError):
            self._link.shutdown(socket.SHUT_RDWR)
        self._link.close()


def call(addresses: list[tuple[str, int]], key: bytes, patience: float = SECONDS) -> Connection:
    """A line to the first of these (address, port) at which somebody answers who has the key."""
    for address in addresses:
        with suppress(OSError):
            link = socket.create_connection(address, patience)
            if greet(link, key, time.monotonic() + patience):
                return Connection(link)
            link.close()
    tried = ", ".join(f"{name} on port {port}" for name, port in addresses)
    raise ConnectionError(
        f"home does not answer with the key of this run, as {tried}: is a firewall between the hosts?"
    )


def answer(link: socket.socket, key: bytes) -> Connection | None:
    """The line of one who called and has the key; None for anybody else."""
    with suppress(OSError):
        if welcome(link, key, time.monotonic() + SECONDS):
            return Connection(link)
    link.close()
    return None


def greet(link: socket.socket, key: bytes, end: float) -> bool:
    """The rank's side of the handshake: has the other end the key?"""
    theirs, mine = read(link, NONCE, end), secrets.token_bytes(NONCE)
    link.sendall(mine + proof(key, b"rank", theirs, mine))
    return hmac.compare_digest(read(link, DIGEST, end), proof(key, b"home", theirs, mine))


def welcome(link: socket.socket, key: bytes, end: float) -> bool:
    """The notebook's side: who has not the key learns nothing from us but a nonce."""
    mine = secrets.token_bytes(NONCE)
    link.settimeout(end - time.monotonic())
    link.sendall(mine)
    said = read(link, NONCE + DIGEST, end)
    theirs, shown = said[:NONCE], said[NONCE:]
    if not hmac.compare_digest(shown, proof(key, b"rank", mine, theirs)):
        return False
    link.sendall(proof(key, b"home", mine, theirs))
    return True


def proof(key: bytes, role: bytes, home: bytes, rank: bytes) -> bytes:
    return hmac.digest(key, role + home + rank, "sha256")


def read(link: socket.socket, length: int, end: float) -> bytes:
    """So many bytes, not one more; a TimeoutError at `end`, however slowly they drip."""
    found = b""
    while len(found) < length:
        link.settimeout(max(1e-3, end - time.monotonic()))
        more = link.recv(length - len(found))
        if not more or time.monotonic() > end:
            raise TimeoutError("the other end has not shown in time that it has the key")
        found += more
    return found
