"""Two pipes between a judge and a runner, seen from the judge: patient until a deadline, and trusting nothing."""

from __future__ import annotations

import os
import select
import threading
import time

from dlmini.grade.plain import HEAD, frame, lengths, strict

ENDED = "your program ended without an answer."


class Lost(Exception):
    """The student's side ended, hung or overstepped a limit: a sentence for the student."""


class Late(Lost):
    """It hung, or used up its time."""


class PatientPipes:
    """Frames in, frames out, until `deadline` (of time.monotonic). Afterwards, and when the other side ends, Lost."""

    def __init__(self, process, deadline: float):
        self.process, self.deadline = process, deadline
        self.inn, self.out = process.stdout.fileno(), process.stdin.fileno()
        self.came, self.polls = bytearray(), {}
        if os.name == "posix":
            os.set_blocking(self.inn, False)
            os.set_blocking(self.out, False)

    def say(self, *value) -> None:
        data = memoryview(frame(value))
        try:
            while data:
                try:
                    data = data[os.write(self.out, data) :]
                except BlockingIOError:
                    self._wait(self.out, select.POLLOUT)
        except OSError as error:
            raise Lost(ENDED) from error

    def hear(self) -> tuple:
        if time.monotonic() > self.deadline:
            raise Late("no answer in time: it waits, or sleeps, for ever.")
        whole, toc = lengths(self._exactly(HEAD.size))
        return strict(self._exactly(whole), toc)

    def _exactly(self, count: int) -> bytearray:
        while len(self.came) < count:
            part = self._some()
            if not part:
                raise Lost(ENDED)
            self.came += part
        found = self.came[:count]
        del self.came[:count]
        return found

    def _some(self) -> bytes:
        if os.name != "posix":
            return self._some_with_alarm()
        while True:
            try:
                return os.read(self.inn, 1 << 18)
            except BlockingIOError:
                self._wait(self.inn, select.POLLIN)

    def _wait(self, fd: int, event: int) -> None:
        """Until a pipe is ready, or the deadline has passed."""
        if fd not in self.polls:
            self.polls[fd] = select.poll()
            self.polls[fd].register(fd, event)
        left = self.deadline - time.monotonic()
        if left <= 0 or not self.polls[fd].poll(left * 1000):
            raise Late("no answer in time: it waits, or sleeps, for ever.")

    def _some_with_alarm(self) -> bytes:
        """Where pipes cannot be waited for: end the runner at the deadline, which ends the reading."""
        alarm = threading.Timer(max(0.0, self.deadline - time.monotonic()), self.process.kill)
        alarm.start()
        try:
            return os.read(self.inn, 1 << 18)
        finally:
            alarm.cancel()
