"""Collectives in virtual time: priced as one computation or played message by message, waited for or in the background.

What a rank posts follows one another, as on a stream: the next one begins when the one before has ended.
"""

from __future__ import annotations

import sys

from dlmini.comm.collectives import Collectives, Pending
from dlmini.comm.schedules import Plan
from dlmini.events import Phases

ACTS = {
    "barrier": lambda comm, plan, x: Collectives._wait_for_all(comm, plan),
    "allreduce": lambda comm, plan, x: Collectives._sum(comm, plan, x).wait(),
    "reduce_scatter": Collectives._sum_part,
    "allgather": Collectives._gather_all,
}


class Together:
    """What a simulated rank, or group, does with a plan."""

    __slots__ = ()

    def _wait_for_all(self, plan: Plan) -> None:
        self._do("barrier", plan, None).wait()

    def _sum(self, plan: Plan, x) -> Pending:
        return self._do("allreduce", plan, x)

    def _sum_part(self, plan: Plan, x):
        return self._do("reduce_scatter", plan, x).wait()

    def _gather_all(self, plan: Plan, x) -> list:
        return self._do("allgather", plan, x).wait()

    def _do(self, verb: str, plan: Plan, x) -> Pending:
        engine = getattr(self, "world", self).engine
        priced = engine.pricing and plan.trusted and plan.size > 1 and (verb != "allgather" or plan.single)
        return (engine.ticket if priced else engine.played)(self, verb, plan, x)


class Posted(Pending):
    """A collective of one rank. `begun`, `ended` and `share`, its phases, are known when it has ended."""

    def __init__(self, comm, verb: str, plan: Plan, x):
        self.comm, self.rank, self.verb, self.plan, self.x = comm, getattr(comm, "world", comm), verb, plan, x
        self.posted = self.begun = self.ended = self.line = None
        self.share, self.result, self.error, self.felt = Phases(), None, None, False

    def start(self) -> Posted:
        """Go on without it. From now on this rank's messages and its collectives may want a port at the same time."""
        if self.posted is None:
            self.rank.plain = False
            self.x = self.x.copy()
            self._post()
        return self

    def wait(self):
        if self.posted is None:
            self._post()
        if self.ended is None:
            self.rank._wait_for(self)
        if not self.felt:
            self._feel()
        if self.error is not None:
            raise self.error
        return self.result

    def _post(self) -> None:
        self.line = self.rank._line(sys._getframe(1))
        self.post()

    def _feel(self) -> None:
        """Time passes until it ends; of what it did, only the part that the rank had to wait for is booked."""
        self.felt, called = True, self.rank.clock
        if self.ended > called:
            self.rank.clock = self.ended
            self.rank._book_share(called, self.begun, self.ended, self.share)

    def end(self, time: float) -> None:
        """It has ended; let its rank go on, if that waits for it."""
        rank, self.ended = self.rank, time
        if rank.wants is self:
            rank.wants = None
            rank.engine.soon(rank)

    def post(self) -> None:
        raise NotImplementedError

    def missing(self) -> tuple[str, tuple[int, ...]]:
        """For the diagnosis: what is waited for, and for whom."""
        raise NotImplementedError

    def lost(self, gone):
        """Who is gone so that it cannot end any more, if anybody."""
