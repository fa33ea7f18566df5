"""A runner in its sandbox, as the judge holds it: start it, give it cases, end it and all that it started."""

from __future__ import annotations

import os
import secrets
import subprocess
import time
from contextlib import ExitStack, suppress

import psutil

from dlmini.grade.runner.judge_pipes import Broken, Lost, Over, PatientPipes
from dlmini.grade.runner.memory_watch import MemoryWatch
from dlmini.grade.runner.pipes import OVER
from dlmini.grade.runner.values import Garbled
from dlmini.grade.sandbox.levels import ENVIRONMENT
from dlmini.grade.sandbox.limits import Limits
from dlmini.grade.sandbox.memory_groups import group_of

START = 120.0  # seconds for a runner to come up; longer is the machine's fault, not the student's
GRACE = 3.0  # seconds for a case that was told to stop
LAST = ("answer", "raised")  # words with which a case ends by itself: of one that held too much they do not count


class RunnerProcess:
    """One runner. `over`: no case is under way; `hopeless`: not worth another wait; `walls`: what holds it, by name."""

    def __init__(self, sandbox, limits: Limits, watch: MemoryWatch):
        self.nonce, self.over, self.hopeless, self.ready, self.watch = b"", True, False, False, watch
        self.walls = []
        try:
            self.process = subprocess.Popen(
                sandbox.command(limits),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**ENVIRONMENT, **_system(), "DLMINI_JUDGE": str(os.getpid())},
                start_new_session=os.name == "posix",
                cwd="/" if os.name == "posix" else None,
            )
        except OSError as error:
            raise Broken(f"a runner did not start: {error}") from error
        self.pipes = PatientPipes(self.process, time.monotonic() + START, watch.look)
        with suppress(Lost):  # who is gone already says why, or does not, when it is to come up
            self.pipes.say(sandbox.settings(limits))

    def come_up(self) -> None:
        """Wait until the runner serves. Until then nothing of the student's has been run."""
        if self.ready:
            return
        try:
            word, _, self.walls = self.pipes.hear()
            self.ready = word == "ready"
            self.watch.add(self.process.pid)
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
                self.watch.blame()
                return (OVER, *last.args)
            except Lost:
                self.watch.blame()
                raise
            if nonce == self.nonce and found and type(found[0]) is str and found[0] != OVER:
                if found[0] in LAST:
                    self.watch.blame()
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

    def give_up(self) -> None:
        """Its case is not to be waited for."""
        self.hopeless = self.hopeless or not self.over

    def kill(self) -> None:
        """End the runner and everything below it, however it has arranged itself.

        The outermost process goes last and by itself: it has been hung up on, and buries those below.
        """
        self.watch.forget(self.process.pid)
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


class Runners:
    """The runners of one submission, one per rank, started when first needed and replaced when lost."""

    def __init__(self, sandbox, limits: Limits):
        self.sandbox, self.limits, self.runners = sandbox, limits, []
        self.watch = MemoryWatch(limits.memory, group_of(limits.memory) if sandbox.grouped else None)

    def take(self, count: int) -> list[RunnerProcess]:
        """So many runners that serve. They start together, before any of them is waited for."""
        for i in range(count):
            if i == len(self.runners):
                self.runners.append(RunnerProcess(self.sandbox, self.limits, self.watch))
            elif self.runners[i].process.poll() is not None:
                self.runners[i].close()
                self.runners[i] = RunnerProcess(self.sandbox, self.limits, self.watch)
        for runner in self.runners[:count]:
            runner.come_up()
        return self.runners[:count]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with ExitStack() as closing:
            closing.callback(self.watch.close)
            for runner in self.runners:
                closing.callback(runner.close)


def crowded() -> float:
    """How much more wall time is fair now: with many times more work than cores everything takes longer."""
    if not hasattr(os, "getloadavg"):
        return 1.0
    return min(3.0, max(1.0, os.getloadavg()[0] / (2 * (os.cpu_count() or 1))))


def _below(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _system() -> dict[str, str]:
    """What Windows needs to start a process at all."""
    return {name: os.environ[name] for name in ("SYSTEMROOT", "TEMP") if os.name == "nt" and name in os.environ}
