"""The notebook's end of all lines. What the ranks say comes together in one queue, `news`: (rank, kind, ...)."""

from __future__ import annotations

import queue
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from dlmini.comm.mpi.line import Line, answer

TICK = 0.1  # seconds between looks whether anybody is still expected


class Switchboard:
    """Takes the calls of `size` ranks who have the key, while `wanted()`; a thread listens to each."""

    def __init__(self, size: int, local: bool):
        self.size, self.key = size, secrets.token_bytes(32)
        self.news: queue.SimpleQueue[tuple] = queue.SimpleQueue()
        self.lines: dict[int, Line] = {}
        self.pids: dict[int, int] = {}
        self.gone: set[int] = set()
        self.threads: list[threading.Thread] = []
        self.door = socket.create_server(("127.0.0.1" if local else "", 0), backlog=size)
        self.port = self.door.getsockname()[1]

    def open(self, wanted: Callable[[], bool]) -> None:
        self._aside(self._take_calls, wanted)

    def _aside(self, what: Callable, *args) -> None:
        thread = threading.Thread(target=what, args=args, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _take_calls(self, wanted: Callable[[], bool]) -> None:
        self.door.settimeout(TICK)
        with self.door:
            while wanted() and len(self.lines) < self.size:
                with suppress(TimeoutError):
                    self._aside(self._hear, self.door.accept()[0])

    def _hear(self, link: socket.socket) -> None:
        line, rank = answer(link, self.key), -1
        try:
            while line is not None:
                kind, *rest = line.recv()
                if kind == "hello":
                    rank, self.pids[rest[0]] = rest
                    self.lines[rank] = line
                self.news.put((rank, kind, *rest))
        except EOFError:
            self.gone.add(rank)
            self.news.put((rank, "gone"))
        except Exception as error:
            self.news.put((rank, "raised", None, f"what it returned or emitted cannot be read here: {error!r}"))

    @property
    def alive(self) -> list[int]:
        """Process ids of the ranks that have come and not gone."""
        return [pid for rank, pid in self.pids.items() if rank not in self.gone]

    def close(self) -> None:
        for line in list(self.lines.values()):
            line.close()
