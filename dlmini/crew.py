"""Jobs in processes of their own: how far each one is, meanwhile; and an end at once when somebody stops.

    for number, result in worked_off(do, common, jobs, hands=2, hear=print):
`do(common, job, tell)` runs in one of so many processes and may tell(share) how far it is. Who leaves the loop, by
Ctrl-C or otherwise, ends all processes; what was yielded before is his.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import wait


def worked_off(
    do: Callable, common, jobs: list, hands: int, hear: Callable[[int, float], None] = lambda number, share: None
) -> Iterator[tuple[int, object]]:
    """(number of a job, what do(common, job, tell) returned), in the order in which they end; `hear` what they tell."""
    left, crew = deque(enumerate(jobs)), {}
    try:
        for _ in range(min(hands, len(jobs))):
            with ctrl_c_later():
                hand = Hand(do)
                crew[hand.pipe] = hand
            hand.pipe.send(common)  # may be large, and wait until the process reads: Ctrl-C ends both
            hand.take(left)
        while busy := [pipe for pipe, hand in crew.items() if hand.number is not None]:
            for pipe in wait(busy):
                kind, said = crew[pipe].said()
                if kind == "at":
                    hear(crew[pipe].number, said)
                    continue
                number = crew[pipe].number
                crew[pipe].take(left)
                yield number, said
    finally:
        for hand in crew.values():
            hand.process.kill()  # all of them at once: who is waited for may take its time to go
        for hand in crew.values():
            hand.end()


@contextmanager
def ctrl_c_later():
    """Ctrl-C takes effect at the end of the block: a process that is born half would print what it misses.

    One that is born in the block never hears of Ctrl-C at all, also while it still imports.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # whoever starts it lets signals through again: not within the block
    heard = []  # a signal may reach another thread, which does not block it
    usual = signal.signal(signal.SIGINT, lambda *_: heard.append(True))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


class Hand:
    """One process, and the number of the job that it is at."""

    def __init__(self, do: Callable):
        spawn = get_context("spawn")
        self.pipe, theirs = spawn.Pipe()
        self.number, self.process = None, spawn.Process(target=serve, args=(theirs, do), daemon=True)
        self.process.start()
        theirs.close()

    def take(self, left: deque) -> None:
        """The next job, if there is one."""
        self.number, job = left.popleft() if left else (None, None)
        if self.number is not None:
            self.pipe.send(job)

    def said(self) -> tuple[str, object]:
        """("at", share) or ("done", result); what the job raised is raised here."""
        try:
            kind, said = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join(1.0)
            raise RuntimeError(
                f"a process that worked on job {self.number} has ended with exit code {self.process.exitcode}; if it "
                "was killed for want of memory, do fewer at a time"
            ) from None
        if kind == "raised":
            raise said
        return kind, said

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def serve(pipe, do: Callable) -> None:
    """A process's life: one job after the other, until its parent is gone. Ctrl-C is the parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, OSError):
        common = pipe.recv()
        while True:
            job = pipe.recv()
            try:
                answer = "done", do(common, job, lambda share: pipe.send(("at", share)))
            except Exception as error:  # handed to the parent; if that is gone, so is all reason to live
                answer = "raised", error
            pipe.send(answer)
