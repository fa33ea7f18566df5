"""One run, seen from the notebook: start mpiexec, hear its ranks, end it, whatever happens."""

from __future__ import annotations

import os
import queue
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from dlmini.comm.errors import RankFailed
from dlmini.comm.launch import Results
from dlmini.comm.mpi import guard
from dlmini.comm.mpi.failures import cause, raised
from dlmini.comm.mpi.key_file import Deposits
from dlmini.comm.mpi.listener import TICK, Listener
from dlmini.comm.mpi.mpiexec import FILE, HOME, KEY, SESSION, addresses, command, environment, heard_at, names, one_host
from dlmini.comm.mpi.report import Report, results
from dlmini.comm.real_transports import pickled
from dlmini.events import Event

START = 120  # seconds in which all ranks must have come
FINISH = 10  # seconds for MPI to end by itself after the last rank has reported
LAST_WORDS = 2  # seconds for what is still on its way from ranks that have ended


def run_job(on, program: Callable, args: tuple, listen: Callable[[Event], None] | None) -> Results:
    path = [os.path.abspath(folder) for folder in sys.path]
    job = Job(on, (path, pickled(program, args)))
    try:
        return job.results(listen)
    finally:
        job.end()


class Job:
    """mpiexec under its guard, and the lines of its ranks."""

    def __init__(self, on, task: tuple):
        self.on, self.task, self.local, self.began = on, task, one_host(on.hosts), time.monotonic()
        self.reports: dict[int, Report] = {}
        self.failed, self.said = False, deque(maxlen=40)
        self.board = Listener(on.size, heard_at(on.hosts), self._all_came)
        self.deposits, self.secret = None, {KEY: self.board.key.hex()}
        if on.hosts:  # what mpiexec hands on passes the network in the clear
            self.secret = {FILE: f"dlmini-key-{secrets.token_hex(8)}"}
            self.deposits = Deposits(names(on.hosts), self.secret[FILE], self.board.key, START)
        self.guard = self._start_guard()
        self.board.open(lambda: self.guard.poll() is None)
        pipes = {"stdout": self.guard.stdout, "stderr": self.guard.stderr}
        self.threads = [threading.Thread(target=self._relay, args=pipe, daemon=True) for pipe in pipes.items()]
        for thread in self.threads:
            thread.start()

    def _start_guard(self) -> subprocess.Popen:
        """In a session of its own: Ctrl-C is for us, who end the ranks in good order."""
        home = ",".join(f"{address}:{port}" for address, port in addresses(self.on.hosts, self.board.ports()))
        words = command(self.on.size, self.on.hosts, self.on.options)
        return subprocess.Popen(
            [sys.executable, "-I", guard.__file__, *(SESSION if self.local else ()), "--", *words],
            **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE),
            env=environment(self.on.size, self.on.hosts) | {HOME: home} | self.secret,
            text=True,
            errors="replace",
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )

    def _all_came(self) -> None:
        """All ranks have read the key."""
        if self.deposits is not None:
            self.deposits.close()

    def _relay(self, name: str, stream) -> None:
        """What ranks print, and what mpiexec says; not its long farewell to a job of which we know why it failed."""
        with stream:
            for text in stream:
                self.said.append(text)
                if not self.failed:
                    getattr(sys, name).write(text)

    # ---- while it runs ----

    def results(self, listen: Callable[[Event], None] | None) -> Results:
        events: list[Event] = []
        while len(self.reports) < self.on.size:
            rank, kind, *rest = self._next()
            if kind == "hello" and rank == 0:
                self._hand_over()
            elif kind == "event":
                (listen or events.append)(rest[0])
            elif kind == "done":
                self.reports[rank] = rest[0]
            elif kind == "raised":
                self._fail(raised(rank, *rest))
            elif kind == "gone" and rank not in self.reports:
                self._fail(self._lost(rank))
        self._wait(FINISH)
        return results([self.reports[rank] for rank in range(self.on.size)], events)

    def _lost(self, rank: int) -> RankFailed:
        """Whose line breaks first is the one. mpiexec knows how it ended; between hosts it may speak of another rank,
        which missed this one and gave up. There a busy machine may also hear first of one that was taken along."""
        self.failed = True
        self._wait(1)
        how = cause(self.guard.returncode, "".join(self.said)) if self.local else "was lost"
        return RankFailed(f"rank {rank} {how} before its program had finished", rank)

    def _hand_over(self) -> None:
        with suppress(OSError):  # rank 0 has gone, which its line reports too
            self.board.lines[0].send(self.task)

    def _next(self) -> tuple:
        """The next news; RankFailed if it takes too long, or if mpiexec has ended and nothing more can come."""
        while True:
            with suppress(queue.Empty):
                return self.board.news.get(timeout=TICK)
            self._check_time()
            if self.guard.poll() is not None:
                self._join(LAST_WORDS)
                if self.board.news.empty():
                    self._fail(RankFailed(f"mpiexec ended with exit code {self.guard.returncode}{self._words()}"))

    def _check_time(self) -> None:
        passed = time.monotonic() - self.began
        if passed > START and len(self.board.lines) < self.on.size:
            self._too_late("come", START, self.board.lines)
        if self.on.timeout is not None and passed > self.on.timeout:
            self._too_late("finished", self.on.timeout, self.reports)

    def _too_late(self, what: str, limit: float, done: dict) -> NoReturn:
        missing = sorted({*range(self.on.size)} - {*done})
        names = ", ".join(map(str, missing))
        self._fail(RankFailed(f"not {what} after {limit} s: rank {names}{self._words()}", missing[0]))

    def _words(self) -> str:
        return ", after these words:\n" + "".join(self.said) if self.said else ""

    def _fail(self, error: Exception) -> NoReturn:
        self.failed = True
        raise error

    # ---- the end ----

    def _wait(self, seconds: float) -> None:
        with suppress(subprocess.TimeoutExpired):
            self.guard.wait(seconds)

    def _join(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        for thread in [*self.threads, *self.board.threads]:
            thread.join(max(0, end - time.monotonic()))

    def end(self) -> None:
        """Let go of the leash: the guard ends mpiexec, mpiexec its ranks. Then hang up."""
        self.failed |= self.guard.poll() is None
        with suppress(OSError):
            self.guard.stdin.close()
        if self.deposits is not None:
            self.deposits.end()
        self._wait(2 * guard.GRACE)
        self.guard.kill()
        self._join(LAST_WORDS)
        for pid in self.board.alive if self.local else ():
            with suppress(OSError):  # mpiexec was killed before it could end its ranks
                os.kill(pid, signal.SIGTERM)
        self.board.close()
        self._join(LAST_WORDS)
        self.guard.wait()
