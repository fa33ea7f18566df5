"""The notebook's end of all connections. What the ranks say comes together in one queue, `news`: (rank, kind, ...).

Strangers may call too. They are refused (connection.py), many at once if need be: a rank shows the key within
milliseconds, so when too many have called and not shown it, the one who has waited for longest is sent away. The doors
are closed when all ranks have come.
"""

from __future__ import annotations

import queue
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from dlmini.comm.mpi.connection import Connection, answer

TICK = 0.1  # seconds between looks whether anybody is still expected
STRANGERS = 64  # callers, beside the ranks, who may be about to show the key


class Listener:
    """Takes the calls of `size` ranks who have the key, at these addresses, while `wanted()`; a thread listens to each.

    `came()` is called when the last of them is here.
    """

    def __init__(self, size: int, addresses: list[str], came: Callable[[], None] = lambda: None):
        self.size, self.key, self.came = size, secrets.token_bytes(32), came
        self.news: queue.SimpleQueue[tuple] = queue.SimpleQueue()
        self.lines: dict[int, Connection] = {}
        self.pids: dict[int, int] = {}
        self.gone: set[int] = set()
        self.threads: list[threading.Thread] = []
        self.callers: dict[socket.socket, None] = {}  # who has not shown the key yet, in the order they called
        self.lock = threading.Lock()
        self.doors = [socket.create_server((address, 0), backlog=size + STRANGERS) for address in addresses]

    def ports(self) -> list[int]:
        return [door.getsockname()[1] for door in self.doors]

    def open(self, wanted: Callable[[], bool]) -> None:
        for door in self.doors:
            self._in_background(self._take_calls, door, wanted)

    def _in_background(self, what: Callable, *args) -> None:
        thread = threading.Thread(target=what, args=args, daemon=True)
        with self.lock:
            self.threads = [*filter(threading.Thread.is_alive, self.threads), thread]
            thread.start()

    def _take_calls(self, door: socket.socket, wanted: Callable[[], bool]) -> None:
        door.settimeout(TICK)
        with door:
            while wanted() and len(self.lines) < self.size:
                with suppress(OSError, RuntimeError):  # nobody called; or hung up at once; or there are no threads left
                    link = door.accept()[0]
                    self._make_room()
                    self.callers[link] = None
                    self._in_background(self._hear, link)

    def _make_room(self) -> None:
        """Hang up on the oldest caller, if there are too many who have not shown the key."""
        while len(self.callers) >= self.size + STRANGERS:
            with suppress(OSError, KeyError, StopIteration, RuntimeError):  # it has just shown it, or left
                oldest = next(iter(self.callers))
                del self.callers[oldest]
                oldest.shutdown(socket.SHUT_RDWR)

    def _hear(self, link: socket.socket) -> None:
        line, rank = answer(link, self.key), -1
        self.callers.pop(link, None)
        if line is None:
            return
        try:
            while True:
                kind, *rest = line.recv()
                if kind == "hello":
                    rank = self._greeted(line, *rest)
                self.news.put((rank, kind, *rest))
        except EOFError:
            self.gone.add(rank)
            self.news.put((rank, "gone"))
        except Exception as error:
            self.news.put((rank, "raised", None, f"what it returned or emitted cannot be read here: {error!r}"))

    def _greeted(self, line: Connection, rank: int, pid: int) -> int:
        self.pids[rank], self.lines[rank] = pid, line
        if len(self.lines) == self.size:
            self.came()
        return rank

    @property
    def alive(self) -> list[int]:
        """Process ids of the ranks that have come and not gone."""
        return [pid for rank, pid in self.pids.items() if rank not in self.gone]

    def close(self) -> None:
        for line in list(self.lines.values()):
            line.close()
        for link in list(self.callers):
            with suppress(OSError):
                link.shutdown(socket.SHUT_RDWR)
