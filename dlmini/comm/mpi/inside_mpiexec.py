"""Ranks that somebody else started: inside `mpiexec -n 4 python script.py` the world is found by itself.

Every rank runs the whole script, and `run`, called on all of them, runs the program. Afterwards each has the results
of all, so that the script goes on alike everywhere; events are heard on rank 0, while the program runs.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

import cloudpickle
from mpi4py import MPI

from dlmini.comm.launch import Results
from dlmini.comm.mpi.comm import FINISHED, MpiComm
from dlmini.comm.mpi.report import live, results
from dlmini.events import Event

EVENTS = FINISHED + 1  # another channel of our own


class WorldComm(MpiComm):
    """Events travel as messages to rank 0, outside the books; `hear` gets them there, after each wait."""

    def __init__(self, mpi: MPI.Comm, hear: Callable[[Event], None]):
        super().__init__(mpi, tell=hear if mpi.rank == 0 else self._send_event)
        self.hear = hear

    def _send_event(self, event: Event) -> None:
        self._post(0, EVENTS, cloudpickle.dumps(event))

    def _take(self, source: int, channel: int) -> tuple[object, float]:
        found = super()._take(source, channel)
        self.hear_all()
        return found

    def _join(self, verb: int, request: MPI.Request) -> None:
        super()._join(verb, request)
        self.hear_all()

    def close(self) -> dict[tuple[int, int], int]:
        unread = super().close()
        self.hear_all()
        return {key: n for key, n in unread.items() if key[1] != EVENTS}

    def hear_all(self) -> None:
        while here := self._mail.here(EVENTS):
            self.hear(cloudpickle.loads(self._mail.boxes[EVENTS][here[0]].popleft().open()[0]))


def size() -> int:
    return MPI.COMM_WORLD.size


def run_here(program: Callable, args: tuple, listen: Callable[[Event], None] | None) -> Results:
    """program(comm, *args) on the ranks that are here. If one raises, it says so and ends the job."""
    events: list[Event] = []
    mpi = MPI.COMM_WORLD.Dup()
    try:
        report = live(program, args, WorldComm(mpi, listen or events.append))
        reports = [cloudpickle.loads(data) for data in mpi.allgather(cloudpickle.dumps(report))]
    except BaseException:
        sys.stderr.write(f"rank {mpi.rank} of {mpi.size} ends the job:\n{traceback.format_exc()}")
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)
    mpi.Free()
    return results(reports, events)
