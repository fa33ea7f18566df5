"""A rank's process, seen from the PC that keeps it: started, heard, told, ended."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from contextlib import suppress

from dlmini.comm.classroom.sockets import HEAD
from dlmini.comm.processes.workers.start import start_process
from dlmini.comm.processes.workers.worker_exit import ask_last_words, last_words
from dlmini.worker_start import serve_in_room

ENDED = 0  # in place of a kind: the process is gone


class RankProcess:
    """What it says comes as (process, kind, run, data) into `heard`, and `ring` is called; last comes ENDED."""

    def __init__(self, port: int, home: str, heard: queue.SimpleQueue, ring: Callable[[], None]):
        self.heard, self.ring = heard, ring
        self.pipe, self.words, self.process = start_process(serve_in_room, port, home)
        self.thread = threading.Thread(target=self._hear, daemon=True)
        self.thread.start()

    def _hear(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                kind, run, _ = HEAD.unpack(self.pipe.recv_bytes())
                self._put(kind, run, self.pipe.recv_bytes())
        self.process.join()
        self._put(ENDED, 0, b"")

    def _put(self, kind: int, run: int, data: bytes) -> None:
        self.heard.put((self, kind, run, data))
        self.ring()

    def tell(self, kind: int, run: int, data: bytes) -> None:
        with suppress(OSError):  # it has died, which is heard too
            self.pipe.send_bytes(HEAD.pack(kind, run, len(data)))
            self.pipe.send_bytes(data)

    @property
    def code(self) -> int | None:
        return self.process.exitcode

    def ask_where(self) -> str:
        """What its fault handler says of where it is."""
        ask_last_words(self.words, self.process.pid)
        return self.last_words()

    def last_words(self) -> str:
        return last_words(self.words)

    def end(self) -> None:
        """Only the thread asks for its exit code: the fork server tells it once."""
        self.process.kill()
        self.thread.join()
