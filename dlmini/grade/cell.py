"""A runner in its sandbox, as the judge holds it: start it, give it cases, end it and all that it started."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from contextlib import suppress

import psutil

from dlmini.grade.limits import Limits
from dlmini.grade.patient import Lost, Over, PatientPipes
from dlmini.grade.pipes import OVER
from dlmini.grade.plain import Garbled
from dlmini.grade.sandbox import ENVIRONMENT

START = 120.0  # seconds for a runner to come up; longer is the machine's fault, not the student's
GRACE = 3.0  # seconds for a case that was told to stop


class Broken(Exception):
    """The grader's own side failed: nobody's fault, to be tried again."""


class Cell:
    """One runner. `over`: no case is under way; `hopeless`: not worth another wait."""

    def __init__(self, sandbox, limits: Limits):
        self.nonce, self.over, self.hopeless, self.ready = b"", True, False, False
        try:
            self.process = subprocess.Popen(
                sandbox.command(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**ENVIRONMENT, **_system(), "DLMINI_JUDGE": str(os.getpid())},
                start_new_session=os.name == "posix",
            )
        except OSError as error:
            raise Broken(f"a runner did not start: {error}") from error
        self.pipes = PatientPipes(self.process, time.monotonic() + START)
        with suppress(Lost):  # who is gone already says why, or does not, when it is to come up
            self.pipes.say(sandbox.settings(limits))

    def come_up(self) -> None:
        """Wait until the runner serves. Until then nothing of the student's has been run."""
        if self.ready:
            return
        try:
            self.ready = self.pipes.hear()[0] == "ready"
        except (Lost, Garbled) as error:
            self.kill()
            raise Broken(f"a runner did not start: {self.pipes.mutter()[-2000:] or error}") from error

    def begin(self, case: dict, deadline: float) -> None:
        """Hand over a case; from now on `hear` gives what the student's side says about it."""
        self.nonce, self.over = secrets.token_bytes(8), False
        self.pipes.turn_to(self.nonce, deadline)
        self.pipes.say({**case, "nonce": self.nonce})

    def say(self, *value) -> None:
        self.pipes.say(*value)

    def hear(self) -> tuple:
        """The next thing said about the present case; what belongs to another case is not heard.

        Only the host can say that it is over; a student's program that says so is not heard, either.
        """
        while True:
            try:
                nonce, *found = self.pipes.hear()
            except Over as last:
                self.over = True
                return (OVER, *last.args)
            if nonce == self.nonce and found and type(found[0]) is str and found[0] != OVER:
                return tuple(found)

    def stop(self) -> None:
        """Tell a case to end that may still wait for the judge."""
        self.pipes.deadline = time.monotonic() + GRACE
        if not self.over and not self.hopeless:
            with suppress(Lost):
                self.say("stop")

    def settle(self) -> bool:
        """Wait until the case is over and cleared away. False, and the runner is ended, if it is not."""
        try:
            while not self.over and not self.hopeless:
                self.hear()
        except (Lost, Garbled):
            self.hopeless = True
        if self.hopeless:
            self.kill()
        return not self.hopeless

    def kill(self) -> None:
        """End the runner and everything below it, however it has arranged itself.

        The outermost process goes last and by itself: it has been hung up on, and buries those below.
        """
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                pipe.close()
        for process in reversed(_below(self.process.pid)):
            with suppress(psutil.Error):
                process.kill()
        try:
            self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def close(self) -> None:
        if self.process.returncode is None:
            self.kill()
        self.process.stderr.close()


def _below(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _system() -> dict[str, str]:
    """What Windows needs to start a process at all."""
    return {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if os.name == "nt" and name in os.environ}
