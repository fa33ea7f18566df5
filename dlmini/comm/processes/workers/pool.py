"""Warm workers that outlive a call, and never their parent.

run        one task to every rank; chat and answers back; a death wakes us at once
failure    the others are told to give up; if all do, they are kept; if one does not, all are ended
death      of one that may die: the others are told so, and go on; afterwards all are ended
hanging    of a process that was stopped: it is ended, and then dead
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import time
from collections.abc import Callable, Iterator

import multiprocess

from dlmini.comm.errors import CommError, RankFailed
from dlmini.comm.processes.segment import create
from dlmini.comm.processes.shared_area import SharedArea, nbytes
from dlmini.comm.processes.wait_settings import cores
from dlmini.comm.processes.workers import edited_sources
from dlmini.comm.processes.workers.deadlock_watch import TICK, DeadlockWatch
from dlmini.comm.processes.workers.hang_watch import HangWatch, is_stopped
from dlmini.comm.processes.workers.protocol import READY, Died, Lost, Returned, Said, Silent, StartOrder, Task
from dlmini.comm.processes.workers.start import compile_once, start_worker
from dlmini.comm.processes.workers.wait_many import wait
from dlmini.comm.processes.workers.worker_exit import ask_last_words, last_words

PATIENCE = 120.0  # seconds for workers to start: kernels may have to be compiled first
GRACE = 0.3  # seconds for ranks to answer an abort


class Pool:
    """`size` worker processes with a area between them.

    Of the last run: `answers` in the order they came, who was `lost` though the others went on, who had `hung` and was
    ended, and whether it was ended because it was `stuck`.
    """

    def __init__(self, size: int):
        self.size, self.owner, self.runs, self.alive = size, os.getpid(), 0, True
        self.torn = self.stuck = False  # a message cut off in the middle; all ranks waiting for one another
        self.cores, self.sources, self.answers, self.lost, self.hung = len(cores()), {}, {}, set(), set()
        self.bell, self.ringer = multiprocess.get_context("spawn").Pipe(duplex=False)
        compile_once()
        segment, scale = create(lambda scale: nbytes(size, scale))
        try:
            self.area = SharedArea(segment.memory, size, scale)
            orders = [StartOrder(rank, size, segment.name, len(segment.memory), scale) for rank in range(size)]
            self.pipes, self.words, self.processes = zip(*map(start_worker, orders), strict=True)
            self._await_starts()
        finally:
            segment.unlink()  # all have mapped it: the name is no longer needed, and nothing can be left behind

    def _await_starts(self) -> None:
        self.answers.update(self._hear(time.monotonic() + PATIENCE))
        for rank in range(self.size):
            if self.answers.get(rank) != READY:
                self.end()
                raise RankFailed(f"rank {rank} could not start: {self.answers.get(rank, 'it gave no sign')}", rank)

    # ---- a run ----

    def fit(self) -> bool:
        """Can it run? All workers live, and what they have imported is what is on disk."""
        healthy = self.alive and all(process.exitcode is None for process in self.processes)
        return healthy and not edited_sources.edited(self.sources)

    def run(
        self,
        program: bytes,
        chat: Callable[[Said | Lost], None],
        spans: bool,
        timeout: float | None,
        may_die: frozenset[int] = frozenset(),
    ) -> None:
        """One task to every rank, until all have returned or one has failed; see `answers`.

        Who `may_die` may be lost, as long as one of them lives.
        """
        self.runs, self.answers, self.lost, self.hung = self.runs + 1, {}, set(), set()
        while self.bell.poll():  # an old cancel that came too late
            self.bell.recv_bytes()
        end = float("inf") if timeout is None else time.monotonic() + timeout
        self.area.begin()
        epoch, deadlock = time.perf_counter(), DeadlockWatch(self.area)
        try:
            self._send(Task(self.runs, epoch, self.cores, spans, sys.path, os.getcwd(), program))
            for rank, said in self._hear(end, deadlock):
                if isinstance(said, Said):
                    chat(said)
                    continue
                self.answers[rank] = said
                if isinstance(said, Died) and rank in may_die and may_die - self.lost - {rank}:
                    self._lose(rank, deadlock)
                    chat(Lost(rank, said.code, time.perf_counter() - epoch, said.hung))
                elif not isinstance(said, Returned):
                    break
        finally:
            if not self.succeeded():
                self._give_up()
            elif self.lost:
                self.end()

    def succeeded(self) -> bool:
        returned = {rank for rank, answer in self.answers.items() if isinstance(answer, Returned)}
        return len(returned | self.lost) == self.size

    def _lose(self, rank: int, deadlock: DeadlockWatch) -> None:
        """The others go on without it. A message of its own may be torn off, but no other comes through that pipe."""
        self.lost.add(rank)
        self.torn = False
        deadlock.forget(rank)
        self.area.strike(rank, self.runs)

    def cancel(self) -> None:
        """From another thread: the run that goes on ends with a CommError."""
        self.ringer.send_bytes(b"!")

    def _send(self, task: Task) -> None:
        data = pickle.dumps(task)
        for pipe in self.pipes:
            self.torn = True
            with contextlib.suppress(OSError):  # who has died is found out in _hear
                pipe.send_bytes(data)
            self.torn = False

    def _hear(self, end: float, deadlock: DeadlockWatch | None = None) -> Iterator[tuple[int, object]]:
        """What those ranks say that have not answered yet, until all have, time is up, or everything stands still."""
        hangs = HangWatch(self.processes)
        while waiting := self._missing():
            for rank in hangs.look(waiting):
                self.hung.add(rank)
                self.processes[rank].kill()
            signs = {self.pipes[rank]: rank for rank in waiting}
            signs |= {self.processes[rank].sentinel: rank for rank in waiting}
            ready = wait([self.bell, *signs], min(TICK, max(0.0, end - time.monotonic())))
            if not ready:
                self.stuck = deadlock is not None and deadlock.look() and not self._stopped(waiting)
                if self.stuck or time.monotonic() >= end:
                    return
            if self.bell in ready:
                self.bell.recv_bytes()
                raise CommError("the run was cancelled")
            for rank in {signs[sign] for sign in ready}:
                if (said := self._said(rank)) is not None:
                    yield rank, said

    def _stopped(self, ranks: list[int]) -> list[int]:
        """Who of them is stopped: no news of these is no deadlock."""
        return [rank for rank in ranks if is_stopped(self.processes[rank].pid)]

    def _missing(self) -> list[int]:
        return [rank for rank in range(self.size) if rank not in self.answers]

    def _said(self, rank: int):
        """The next thing this rank says; or that it has died; None if it was a false alarm."""
        pipe, process = self.pipes[rank], self.processes[rank]
        dead = process.exitcode is not None  # asked first: a last answer may still be in the pipe
        try:
            if pipe.poll():
                self.torn = True
                said, imported = pickle.loads(pipe.recv_bytes())
                self.torn = False
                self.sources |= imported
                return said
        except (EOFError, OSError):
            process.join(1.0)
            dead = True
        return Died(process.exitcode, last_words(self.words[rank]), rank in self.hung) if dead else None

    # ---- when it goes wrong ----

    def _give_up(self) -> None:
        """Tell all ranks to stop. If all do so in time they are kept for the next run; else all end."""
        self.area.abort(self.runs)
        try:
            if not self.torn:
                chat_and_answers = self._hear(time.monotonic() + GRACE)
                self.answers.update((rank, said) for rank, said in chat_and_answers if not isinstance(said, Said))
            self._ask_where(self._missing())
        except BaseException:
            self.torn = True
            raise
        finally:
            if self.torn or any(isinstance(answer, Died | Silent) for answer in self.answers.values()):
                self.end()
            else:
                self.area.reset()

    def _ask_where(self, ranks: list[int]) -> None:
        """Ranks that do not answer: their fault handlers do."""
        stopped = self._stopped(ranks)
        for rank in ranks:
            ask_last_words(self.words[rank], self.processes[rank].pid)
        self.answers.update((rank, Silent(last_words(self.words[rank]), rank in stopped)) for rank in ranks)

    def end(self) -> None:
        """Kill the workers; nothing of them remains."""
        self.alive = False
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.join()
        for pipe in (*self.pipes, *filter(None, self.words), self.bell, self.ringer):
            pipe.close()
