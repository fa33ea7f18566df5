"""Reading hand-ins from a safe distance: each in a process under limits, so that what goes wrong is its own result."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

from dlmini.grade.sandbox.visible_files import PATH

WALL = {"class": 600.0, "hand_in": 60.0}  # seconds for one request
MOST = 16 << 20  # bytes of an answer
BOOT = f"import sys; sys.path[:0] = {PATH!r}; from dlmini.grade.reading.reader import main; main()"


class Refused(Exception):
    """What was asked for could not be read: a sentence."""


class Guard:
    """A reader, started when it is first asked, and again after one that did not survive."""

    def __init__(self):
        self.process = None

    def ask(self, verb: str, **request) -> dict:
        """The reader's answer; Refused, if there is none."""
        if self.process is None:
            self.process = started()
        late = threading.Event()
        alarm = threading.Timer(WALL[verb], lambda process=self.process: (late.set(), process.kill()))
        alarm.start()
        line = b""
        try:
            with suppress(OSError):  # it is gone, and is asked why below
                self.process.stdin.write(json.dumps({"verb": verb, **request}).encode() + b"\n")
                self.process.stdin.flush()
                line = self.process.stdout.readline(MOST)
        finally:
            alarm.cancel()
        if not line.endswith(b"\n"):
            raise Refused(why(self.close(), late.is_set()))
        found = json.loads(line)
        if "failed" in found:
            self.close()
            raise Refused(f"It could not be read: {found['failed']}.")
        return found

    def close(self) -> int:
        """End the reader; its exit code."""
        process, self.process = self.process, None
        if process is None:
            return 0
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                pipe.close()
        try:
            return process.wait(1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def __enter__(self) -> Guard:
        return self

    def __exit__(self, *_) -> None:
        self.close()


def started() -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-I", "-B", "-c", BOOT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=os.name == "posix",
    )


def why(code: int, late: bool) -> str:
    """Why a reader ended over a hand-in."""
    if late or code == -getattr(signal, "SIGXCPU", 0):
        return "It could not be read: that took too long."
    return f"It could not be read: the reader {f'was ended by signal {-code}' if code < 0 else 'gave up'}."
