"""The life of a worker process: be born warm, wait for a task, run it as one rank, answer, and wait again.

A task is a program and its arguments, pickled by value (cloudpickle), so functions and classes of a notebook's cells
travel too. While it runs, events and printed lines go to the parent as they come; at the end, one answer does.
"""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import cloudpickle

from dlmini.comm.errors import Cancelled
from dlmini.comm.processes.comm import SharedComm
from dlmini.comm.processes.controlled import ControlledComm
from dlmini.comm.processes.segment import attach
from dlmini.comm.processes.shared_area import SharedArea
from dlmini.comm.processes.workers.edited_sources import Imports
from dlmini.comm.processes.workers.event_sender import EventSender
from dlmini.comm.processes.workers.protocol import READY, Exited, Raised, Returned, Said, StartOrder, Stopped, Task
from dlmini.comm.processes.workers.worker_exit import die_with_parent, leave_last_words
from dlmini.events import as_row

HOUSE = str(Path(__file__).parents[2]) + os.sep  # frames from here are not the program's own


def serve(pipe, last_words, birth: StartOrder) -> None:
    """The process's main function: one task after the other, until the parent is gone."""
    die_with_parent()
    leave_last_words(last_words)
    segment = attach(birth.segment, birth.nbytes)
    worker = Worker(pipe, birth.rank, SharedArea(segment.memory, birth.size, birth.scale))
    with contextlib.suppress(EOFError, OSError):  # the parent is gone, and so is all reason to live
        worker.answer(READY)
        while True:
            worker.answer(*worker.run(pickle.loads(pipe.recv_bytes())))


class Worker:
    def __init__(self, pipe, rank: int, area: SharedArea):
        self.pipe, self.rank, self.area = pipe, rank, area
        self.imports, self.lock = Imports(), threading.Lock()

    def answer(self, said, imported=()) -> None:
        """To the parent: what there is to say, and the user's files that were imported since the last time."""
        with self.lock:  # the program may have threads that print
            self.pipe.send_bytes(pickle.dumps((said, dict(imported))))

    def say(self, stream: str, text: str) -> None:
        self.news.flush()
        self.answer(Said(stream, text))

    def tell(self, event) -> None:
        self.news.tell(as_row(event) or dumped(event, f"an event that rank {self.rank} emits"))

    def run(self, task: Task) -> tuple[Returned | Raised | Exited | Stopped, dict]:
        began = time.time_ns()
        sys.path[:] = task.path
        with contextlib.suppress(OSError):  # it may be gone
            os.chdir(task.folder)
        self.news = EventSender(lambda events: self.answer(Said("events", events)))
        out, err = Voice("stdout", self.say), Voice("stderr", self.say)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            outcome = outcome_of(lambda: self._live(task))
        out.flush()
        err.flush()
        self.news.end()
        return outcome, self.imports.fresh(began)

    def _live(self, task: Task) -> Returned:
        program, args, network, controlled = cloudpickle.loads(task.program)
        kind = ControlledComm if controlled else SharedComm
        comm = kind(self.rank, self.area, task.run, task.epoch, task.cores, network, self.tell)
        comm.spans = task.spans
        try:
            value = dumped(program(comm, *args), f"what rank {self.rank} returned")
            unread = comm.close()
        finally:
            comm.shut()
        return Returned(value, comm.ledger.entries(), comm.phases, unread)


def outcome_of(work: Callable[[], Returned], file: str = __file__) -> Returned | Raised | Exited | Stopped:
    """What a rank's work came to, as an answer to the parent. `file`: whose frames a traceback need not begin with."""
    try:
        return work()
    except Cancelled as stop:
        return Stopped(stop.what, stop.on, whereabouts(stop))
    except SystemExit as leave:
        return Exited(repr(leave.code), told(leave, file))
    except BaseException as error:
        return Raised(portable(error), f"{type(error).__name__}: {error}", told(error, file))


class Voice(io.TextIOBase):
    """A stream whose lines come out at the parent."""

    def __init__(self, name: str, say):
        self.stream, self.say, self.line = name, say, ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.line += text
        if "\n" in text:
            self.flush()
        return len(text)

    def flush(self) -> None:
        line, self.line = self.line, ""
        if line:
            self.say(self.stream, line)


def dumped(value, what: str) -> bytes:
    """Pickled; with plain pickle if that is enough, since it is several times faster."""
    try:
        return pickle.dumps(value, 5)
    except Exception:  # whatever plain pickle objects to, cloudpickle may not
        try:
            return cloudpickle.dumps(value)
        except Exception as error:
            raise TypeError(f"{what} cannot travel to another process: {error}") from error


def portable(error: BaseException) -> bytes:
    """The exception pickled, if it survives the journey; else nothing."""
    try:
        data = cloudpickle.dumps(error)
        cloudpickle.loads(data)
    except Exception:  # then its words must do
        return b""
    return data


def told(error: BaseException, file: str) -> str:
    """The traceback, without the frames of this file and that one, in which the program was called."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename in (__file__, file):
        frames = frames.tb_next
    return "".join(traceback.format_exception(type(error), error, frames))


def whereabouts(stop: BaseException) -> str:
    """The innermost line of the program itself."""
    own = [frame for frame in traceback.extract_tb(stop.__traceback__) if not frame.filename.startswith(HOUSE)]
    return f"{own[-1].filename}, line {own[-1].lineno}, in {own[-1].name}: {own[-1].line}" if own else "its end"
