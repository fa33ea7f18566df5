"""Work beside a run that its ranks need not wait for: trying weights on the test set, writing checkpoints."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

ROOM = 2**28  # bytes of weights and checkpoints that may wait


class Job(NamedTuple):
    """`do` it; or, if that may be, `skip` it. Until then it holds `nbytes`."""

    do: Callable[[], None]
    nbytes: int
    skip: Callable[[], None] | None = None


class Background:
    """Jobs, done in their order by a thread of their own; where time is virtual (`at_once`), before `give` returns.

    Whoever gives one does not wait. When jobs come faster than they are done and more than `room` bytes wait, every
    second of those that may be skipped is; if the others alone are too many, `give` waits: a checkpoint that was asked
    for is written, and ranks are as fast as the disk.
    """

    def __init__(self, at_once: bool, room: int = ROOM):
        self.at_once, self.room, self.error = at_once, room, None
        self._jobs: deque[Job] = deque()
        self._thread, self._change, self._over, self._busy = None, threading.Condition(), False, False

    def give(self, job: Job) -> None:
        if self.at_once:
            job.do()
            return
        with self._change:
            self._jobs.append(job)
            self._skip_some()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="dlmini background", daemon=True)
                self._thread.start()
            self._change.notify_all()
            self._change.wait_for(lambda: self.error or len(self._jobs) < 2 or self._waiting() <= self.room)

    def settle(self) -> None:
        """Wait until all that was given so far is done."""
        with self._change:
            self._change.wait_for(lambda: self.error or not (self._jobs or self._busy))

    def finish(self, drop: bool = False) -> None:
        """Wait until all is done, or, of those that may be skipped, dropped; raises what a job has raised."""
        with self._change:
            self._over = True
            if drop:
                self._jobs = deque(job for job in self._jobs if job.skip is None)
            self._change.notify_all()
        if self._thread is not None:
            self._thread.join()
        if self.error is not None:
            raise self.error

    def _waiting(self) -> int:
        return sum(job.nbytes for job in self._jobs)

    def _skip_some(self) -> None:
        """Every second of those that may be, from the oldest on; the newest stays."""
        while self._waiting() > self.room and (some := [job for job in self._jobs if job.skip is not None][:-1:2]):
            for job in some:
                self._jobs.remove(job)
                job.skip()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            try:
                job.do()
                self._rest()
            except BaseException as error:  # handed to who gives the next job, and to who waits for the end
                with self._change:
                    self.error = error
                    self._jobs.clear()
                    self._change.notify_all()
                return

    def _next(self) -> Job | None:
        with self._change:
            self._change.notify_all()
            self._change.wait_for(lambda: self._jobs or self._over)
            self._busy = bool(self._jobs)
            return self._jobs.popleft() if self._jobs else None

    def _rest(self) -> None:
        with self._change:
            self._busy = False
            self._change.notify_all()
