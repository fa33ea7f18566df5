"""A rank's process, seen from the PC that keeps it: started, heard, told, ended."""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Callable
from contextlib import suppress

from multiprocess import connection

from dlmini.comm.classroom.sockets import HEAD
from dlmini.comm.processes.workers.start import starting
from dlmini.worker_start import serve_in_room

WORDS = 0.2  # seconds for a fault handler to write where its process is
ENDED = 0  # in place of a kind: the process is gone


class RankProcess:
    """What it says comes as (process, kind, run, data) into `heard`, and `ring` is called; last comes ENDED."""

    def __init__(self, port: int, home: str, heard: queue.SimpleQueue, ring: Callable[[], None]):
        self.heard, self.ring = heard, ring
        with starting() as context:
            self.pipe, theirs = context.Pipe()
            self.words, last_words = context.Pipe(duplex=False) if os.name == "posix" else (None, None)
            args = (theirs, last_words, port, home)
            self.process = context.Process(target=serve_in_room, args=args, daemon=True)
            self.process.start()
        for end in filter(None, (theirs, last_words)):
            end.close()
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
        if self.words is not None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGUSR1)
        return self.last_words()

    def last_words(self) -> str:
        found = b""
        while self.words is not None and connection.wait([self.words], WORDS / 10 if found else WORDS):
            if not (more := os.read(self.words.fileno(), 2**16)):
                break
            found += more
        return found.decode(errors="replace")

    def end(self) -> None:
        """Only the thread asks for its exit code: the fork server tells it once."""
        self.process.kill()
        self.thread.join()
