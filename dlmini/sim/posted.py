"""Collectives message by message: by the rank itself or, when it does not wait, by a second greenlet beside it."""

from __future__ import annotations

from collections import deque

from dlmini.events import Phases
from dlmini.sim.engine import Errand, deep_greenlet
from dlmini.sim.rank import ACTS, Posted, Rank
from dlmini.sim.sending import Lane


class Played(Posted):
    """A collective that is played."""

    def wait(self):
        stream = self.rank.stream
        if self.posted is None and (stream is None or stream.idle_at(self.rank.clock)):
            self._play_now()
        return super().wait()

    def post(self) -> None:
        if self.plan.size == 1:
            self._play_now()
        else:
            self.posted = self.rank.clock
            self.rank.stream = self.rank.stream or Stream(self.rank)
            self.rank.stream.add(self)

    def _play_now(self) -> None:
        """By the rank itself, after what it has posted before."""
        if self.plan.size > 1:
            for ticket in list(self.rank.tickets):
                ticket.wait()
        self.result = ACTS[self.verb](self.comm, self.plan, self.x)
        self.posted = self.ended = self.rank.clock
        self.felt = True

    def missing(self) -> tuple[str, tuple[int, ...]]:
        return f"waits for the {self.verb} that it has posted", ()


class Stream(Rank):
    """Works off what its rank has posted: the same lanes and ledger, a clock and phases of its own."""

    __slots__ = ("jobs", "main")

    def __init__(self, main: Rank):
        super().__init__(main.engine, main.rank)
        self.main, self.jobs, self.plain = main, deque(), False
        self.ins, self.outs, self.queues, self.ledger = main.ins, main.outs, main.queues, main.ledger
        self.clock, self.dies = main.clock, main.dies

    def _lane_from(self, source: int, channel: int) -> Lane:
        return self.main._lane_from(source, channel)

    def add(self, job: Played) -> None:
        self.jobs.append(job)
        if len(self.jobs) == 1:
            self.engine.soon(Errand(self.engine, self.begin))

    def idle_at(self, time: float) -> bool:
        """Has all that was posted ended by then? (It may have run ahead of its rank.)"""
        return not self.jobs and self.clock <= time

    def job(self) -> Played:
        return self.jobs[0]

    def _line(self, frame) -> tuple:
        return self.jobs[0].line

    def begin(self) -> None:
        """In the hub, where greenlets are born."""
        self.greenlet = deep_greenlet(self.work_off, self.engine.hub)
        self.greenlet.switch()

    def work_off(self) -> None:
        while self.jobs:
            job, self.phases = self.jobs[0], Phases()
            self.clock = job.begun = max(self.clock, job.posted)
            try:
                job.result = ACTS[job.verb](self._seen_as(job.comm), job.plan, job.x)
            except Exception as error:  # it is the rank's, when it asks for the result
                job.error = error
            job.share = self.phases
            self.jobs.popleft()
            job.end(self.clock)

    def _seen_as(self, comm):
        """The job's communicator, with this stream in the place of its rank."""
        return self if comm is self.main else self.group(comm.ranks)
