"""Pipes between a judge and a runner, seen from the judge: patient until a deadline, and trusting nothing.

Frames come from whoever runs the student's code. That a case is over is said on another pipe, which only the runner's
host has; it is believed once all frames that came before it have been read.
"""

from __future__ import annotations

import os
import select
import threading
import time
from contextlib import suppress

from dlmini.grade.runner.pipes import OVER
from dlmini.grade.runner.values import HEAD, frame, lengths, strict

MOST = 1 << 16  # bytes of standard error that are kept
LOOK = 0.1  # seconds after which a wait is interrupted for a look around
ENDED = "your program ended without an answer."
LATE = "no answer in time: it waits, or sleeps, for ever."
STILL = 2.0  # seconds that a look takes longer than it may, if the judge stood still
_still = [0.0]  # when that was seen last, by whichever pipe


class Broken(Exception):
    """The grader's own side failed: nobody's fault, to be tried again."""


class Lost(Exception):
    """The student's side ended, hung or overstepped a limit: a sentence for the student."""


class Late(Lost):
    """It hung, or used up its time."""


class Interrupted(Late):
    """It seems late, but the judge itself stood still meanwhile (Ctrl-Z, a machine that was paused): try again."""


class Greedy(Lost):
    """It held too much memory, and still does."""


class Over(Exception):
    """The host's last word about a case: its exit code, and seconds of processor time."""


class PatientPipes:
    """Frames in, frames out, until `deadline` (of time.monotonic). Afterwards, and when the other side ends, Lost."""

    def __init__(self, process, deadline: float, look=lambda: None):
        """look: called now and then while waiting; what it raises ends the waiting."""
        self.process, self.deadline, self.nonce, self.look = process, deadline, b"", look
        self.began = time.monotonic()
        self.inn, self.out, self.aside = (p.fileno() for p in (process.stdout, process.stdin, process.stderr))
        self.came, self.muttered, self.hung_up, self.polls = bytearray(), bytearray(), False, {}
        self.table = 0  # bytes of the last frame's table of contents: what it costs to keep it grows with this
        if os.name == "posix":
            for pipe in (self.inn, self.out, self.aside):
                os.set_blocking(pipe, False)

    def turn_to(self, nonce: bytes, deadline: float) -> None:
        """From now on it is about another case: what was said about those before is forgotten."""
        self.nonce, self.deadline, self.began = nonce, deadline, time.monotonic()
        self.muttered.clear()

    def say(self, *value) -> None:
        data = memoryview(frame(value))
        try:
            while data:
                try:
                    data = data[os.write(self.out, data) :]
                except BlockingIOError:
                    self._wait((self.out, select.POLLOUT))
        except OSError as error:
            raise Lost(ENDED) from error

    def hear(self) -> tuple:
        """The next frame; or Over, if the case is over and there is none left."""
        self.look()
        if time.monotonic() > self.deadline:
            raise self._late()
        whole, self.table = lengths(self._exactly(HEAD.size))
        return strict(self._exactly(whole), self.table)

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
            last = self._last_word()  # asked first: what was said before it is read below
            try:
                return os.read(self.inn, 1 << 18)
            except BlockingIOError:
                if last is not None:
                    self.came.clear()  # half a frame of somebody who is no more
                    raise last from None
                if self.hung_up:
                    raise Lost(ENDED) from None
                self._wait((self.inn, select.POLLIN), (self.aside, select.POLLIN))

    def _last_word(self) -> Over | None:
        """What the host has said about the present case. It stays said."""
        self.mutter()
        _, said, rest = self.muttered.rpartition(f"\n{OVER} {self.nonce.hex()} ".encode())
        code, _, cpu = rest.partition(b"\n")[0].partition(b" ")
        return Over(int(code), float(cpu)) if said and b"\n" in rest else None

    def mutter(self) -> str:
        """What came on standard error and was about no case, such as why an interpreter does not start."""
        with suppress(BlockingIOError):
            while part := os.read(self.aside, 4096):
                self.muttered += part
                del self.muttered[:-MOST]
            self.hung_up = True
        return self.muttered.decode("utf-8", "replace").strip()

    def _wait(self, *events: tuple[int, int]) -> None:
        """Until one of the pipes is ready, or the deadline has passed."""
        if events not in self.polls:
            self.polls[events] = select.poll()
            for fd, event in events:
                self.polls[events].register(fd, event)
        while (left := self.deadline - (now := time.monotonic())) > 0:
            ready = self.polls[events].poll(1000 * min(left, LOOK))
            if time.monotonic() - now > LOOK + STILL:
                _still[0] = time.monotonic()
            if ready:
                return
            self.look()
        raise self._late()

    def _late(self) -> Late:
        return Interrupted(LATE) if _still[0] > self.began else Late(LATE)

    def _some_with_alarm(self) -> bytes:
        """Where pipes cannot be waited for: end the runner at the deadline, which ends the reading."""
        alarm = threading.Timer(max(0.0, self.deadline - time.monotonic()), self.process.kill)
        alarm.start()
        try:
            return os.read(self.inn, 1 << 18)
        finally:
            alarm.cancel()
