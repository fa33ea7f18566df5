"""Processes: ranks as real processes of this machine, over shared memory.

    launch(program, on=Processes(4))

Workers are started once, warm, and kept for the next call, whatever object it is made through. The program travels by
value, so it may be a function of a notebook's cell. If a rank raises, its exception is raised here; if it is killed,
exits, hangs or runs out of memory, RankFailed says which and how. Ctrl-C ends the run, not the workers.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from dlmini.checks import real, settle, truth, whole
from dlmini.comm.control import Control
from dlmini.comm.launch import Results
from dlmini.comm.network import Network, network_of
from dlmini.comm.processes.plain.waiting_and_sums import check_order
from dlmini.comm.processes.workers.failures import ended, judge, whereabouts
from dlmini.comm.processes.workers.pool import Pool
from dlmini.comm.processes.workers.protocol import Lost, Said
from dlmini.comm.processes.workers.start import prepare
from dlmini.comm.real_transports import pickled
from dlmini.events import Event, Fault, from_row

KEPT = 64  # idle workers kept at most, over all pools
_idle: list[Pool] = []  # the one used last comes last
_lock = threading.Lock()


@dataclass(frozen=True)
class Processes:
    """`size` ranks on this machine.

    network=gigabit holds each message back until it would have arrived there; then nothing is shared behind its back,
    and native collectives are played over it. A run that takes longer than `timeout` seconds is ended. spans=True emits
    a Span for every stretch of a rank's time.
    """

    size: int
    network: Network | None = None
    spans: bool = False
    timeout: float | None = None
    _busy: set[Pool] = field(default_factory=set, init=False, repr=False, compare=False)

    def __post_init__(self):
        settle(self, size=whole(self.size, "size", 1, hint="ranks"), spans=truth(self.spans, "spans"))
        if self.network is not None:
            network_of(self.network)
        if self.timeout is not None:
            settle(self, timeout=real(self.timeout, "timeout", above=0, infinite=True, hint="seconds"))
        check_order()
        prepare()

    def run(
        self,
        program: Callable,
        args: tuple = (),
        listen: Callable[[Event], None] | None = None,
        control: Control | None = None,
        may_die: frozenset[int] = frozenset(),
    ) -> Results:
        """program(comm, *args) on every rank. `listen` is called with each event as it comes; without it all are kept.

        It is called where the ranks are heard: while it works, nothing is, and after a while they wait (event_sender).
        Of a rank that was lost (may_die) the books are lost too: they hold what the others sent.
        """
        data, began, events = pickled(program, args, self.network, control is not None), time.perf_counter(), []
        pool = borrow(self.size)
        self._busy.add(pool)
        try:
            if control is not None:
                control.bind(pool.area.control, lambda rank: pool.processes[rank].kill(), pool.cancel)
            pool.run(data, lambda said: hear(said, listen or events.append), self.spans, self.timeout, may_die)
        except KeyboardInterrupt as stop:
            stop.add_note(whereabouts(pool.answers))
            raise
        finally:
            if control is not None:
                control.unbind()
            self._busy.discard(pool)
            give_back(pool)
        answers = judge(pool, self.timeout)
        return Results(
            [pickle.loads(answer.value) for answer in answers],
            [entry for answer in answers for entry in answer.entries],
            [answer.phases for answer in answers],
            time.perf_counter() - began,
            events,
        )

    def cancel(self) -> None:
        """From another thread: end the runs that go on; they raise a CommError."""
        for pool in list(self._busy):
            pool.cancel()


def hear(said: Said | Lost, listen: Callable[[Event], None]) -> None:
    """Events, and the loss of a rank as one, to who listens; a printed text to where this process prints."""
    if isinstance(said, Lost):
        listen(Fault("killed", f"rank {said.rank} {ended(said.code, said.hung)}", rank=said.rank, at=said.at))
    elif said.stream == "events":
        for event in said.text:
            listen(from_row(event) if type(event) is tuple else pickle.loads(event))
    else:
        getattr(sys, said.stream).write(said.text)


def borrow(size: int) -> Pool:
    """An idle pool of this size, used last; a new one if there is none that is fit."""
    with _lock:
        _idle[:] = [pool for pool in _idle if pool.owner == os.getpid()]  # after a fork they are still the parent's
        found = next((pool for pool in reversed(_idle) if pool.size == size), None)
        if found is not None:
            _idle.remove(found)
    if found is not None and found.fit():
        return found
    if found is not None:
        found.end()
    return Pool(size)


def give_back(pool: Pool) -> None:
    """Keep it for the next call; those not used for longest go when there are too many."""
    with _lock:
        if pool.alive:
            _idle.append(pool)
        while len(_idle) > 1 and sum(pool.size for pool in _idle) > KEPT:
            _idle.pop(0).end()
