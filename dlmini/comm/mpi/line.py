"""The line between the notebook and a rank: one TCP connection, pickles with their length in front.

It carries the program there and events, result or traceback back; and each end learns from it, at once, that the
other is gone. A caller must first show the key of this run: nothing that a stranger sends is ever unpickled.
"""

from __future__ import annotations

import hmac
import socket
import struct
from contextlib import suppress

import cloudpickle

LENGTH = struct.Struct("<Q")


class Line:
    """send(anything) and recv(): EOFError when the other end is gone."""

    def __init__(self, link: socket.socket):
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


def call(addresses: list[str], port: int, key: bytes, patience: float = 10) -> Line:
    """A line to the first of these addresses that answers."""
    for address in addresses:
        with suppress(OSError):
            link = socket.create_connection((address, port), patience)
            link.settimeout(None)
            link.sendall(key)
            return Line(link)
    raise ConnectionError(f"none of {', '.join(addresses)} answers on port {port}: is a firewall between the hosts?")


def answer(link: socket.socket, key: bytes) -> Line | None:
    """The line of one who called and has the key; None for anybody else."""
    link.settimeout(10)
    line = Line(link)
    with suppress(EOFError):
        if hmac.compare_digest(line._read(len(key)), key):
            link.settimeout(None)
            return line
    line.close()
    return None
