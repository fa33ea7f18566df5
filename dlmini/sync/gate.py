"""At a server's gate: which of the waiting workers may go on."""

from collections.abc import Callable

import numpy as np


class Gate:
    """Workers arrive with a push, wait, and are let through.

    clocks   the pushes of each worker; `slowest` is the least of those of the `living` when the gate was last opened
    halts    rounds after which everybody waits until all have come so far, whatever else the gate allows
    """

    def __init__(self, workers: int, rounds: int, halts: Callable[[int], bool] = lambda t: False):
        self.rounds, self.halts = rounds, halts
        self.clocks, self.slowest, self.waiting = np.zeros(workers, int), 0, set()
        self.living = np.ones(workers, bool)

    def arrive(self, worker: int) -> None:
        self.clocks[worker] += 1
        self.waiting.add(worker)

    def strike(self, worker: int) -> None:
        """It has died: nobody waits for it any more."""
        self.living[worker] = False
        self.waiting.discard(worker)

    def take_back(self, worker: int, clock: int | None = None) -> int:
        """It has come back, and goes on where the slowest of the others is, or where another gate has said."""
        if clock is None:
            others = self.clocks[self.living]
            clock = int(others.min()) if others.size else int(self.clocks[worker])
        self.living[worker], self.clocks[worker] = True, clock
        return clock

    @property
    def passed(self) -> bool:
        """Whether all who live have come as often as they will."""
        return bool((self.clocks[self.living] >= self.rounds).all())

    def open(self) -> list[int]:
        """Let through whoever may go on, in the order of ranks."""
        self.slowest = int(self.clocks[self.living].min(initial=self.rounds))
        ready = sorted(worker for worker in self.waiting if self.may_go_on(worker) and not self.halted(worker))
        self.waiting.difference_update(ready)
        return ready

    def halted(self, worker: int) -> bool:
        clock = int(self.clocks[worker])
        return clock > self.slowest and self.halts(clock - 1)

    def memory(self) -> dict:
        return {"clocks": self.clocks.copy()}

    def restore(self, memory: dict) -> None:
        self.clocks[:] = memory["clocks"]


class Bounded(Gate):
    """Nobody runs more than `bound` rounds ahead of the slowest: 0 is bulk-synchronous, infinity asynchronous.

    A worker may go on when  its round - bound <= the slowest worker's round.
    """

    def __init__(self, workers, rounds, halts, bound: float):
        super().__init__(workers, rounds, halts)
        self.bound = bound

    def may_go_on(self, worker: int) -> bool:
        return self.clocks[worker] - self.bound <= self.slowest


class Gathering(Gate):
    """All are free until one has done `most` rounds; then each waits at the end of its round. When all wait, all go on.

    since: the rounds of each worker since the last meeting. Workers that have finished are not waited for.
    """

    def __init__(self, workers, rounds, halts, most: int):
        super().__init__(workers, rounds, halts)
        self.most, self.since = most, np.zeros(workers, int)

    def arrive(self, worker: int) -> None:
        super().arrive(worker)
        self.since[worker] += 1

    def strike(self, worker: int) -> None:
        super().strike(worker)
        self.since[worker] = 0

    def open(self) -> list[int]:
        at_work = set(np.flatnonzero(self.living & (self.clocks < self.rounds)))
        if self.since.max() >= self.most and at_work <= self.waiting:
            self.since[:] = 0
        return super().open()

    def may_go_on(self, worker: int) -> bool:
        return self.since.max() < self.most or self.clocks[worker] == self.rounds

    def memory(self) -> dict:
        return {**super().memory(), "since": self.since.copy()}

    def restore(self, memory: dict) -> None:
        super().restore(memory)
        self.since[:] = memory["since"]
