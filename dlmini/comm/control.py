"""Control: how somebody who watches a run holds it, slows a rank, cuts a link, kills a rank. And how ranks obey.

    control = Control(4)
    launch(program, on=Processes(4), control=control)        in a thread; meanwhile, in this one:
    control.slow(1, 5); control.cut(0, 2); control.pause(); control.step(); control.resume(); control.kill(3)

All orders are numbers in one small array. On Processes it lies in shared memory, on Simulated it is an ordinary one.
Ranks look at it where they pass anyway: at the end of a round, of local work, before a sum, in a receive that waits.
A look costs well under a microsecond; a run that was launched without a control does not even look.

    stop                1: whoever is held goes on, so that the run can end
    cuts                how many links are cut
    limit[r]            rank r may end so many rounds, then it waits
    done[r]             so many it has ended                        (the rank writes this, and nobody else)
    factor[r]           its local work takes so many times as long
    waits[r]            1 + the rank it waits for at a cut link     (the rank writes this, and nobody else)
    cut[a, b]           1: what a sends to b is held back until the link is healed
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf

import numpy as np

from dlmini.checks import real, whole
from dlmini.comm.schedules import Plan
from dlmini.comm.schedules.step import NOBODY

STOP, CUTS, FIRST = 0, 1, 2
PER_RANK = ("limit", "done", "factor", "waits")


def length(size: int) -> int:
    """Numbers in the array."""
    return FIRST + len(PER_RANK) * size + size * size


class Orders:
    """The array, seen from both sides."""

    def __init__(self, size: int, words: np.ndarray):
        self.size, self.words = size, words
        for i, name in enumerate(PER_RANK):
            setattr(self, name, words[FIRST + i * size : FIRST + (i + 1) * size])
        self.links = words[FIRST + len(PER_RANK) * size :].reshape(size, size)
        self.look = memoryview(words).__getitem__  # of one number, several times as fast as the array's own

    @property
    def stopping(self) -> bool:
        return self.look(STOP) != 0

    def holds(self, rank: int) -> bool:
        """Has this rank ended as many rounds as it may?"""
        return not self.stopping and self.done[rank] >= self.limit[rank]

    def blocks(self, source: int, dest: int) -> bool:
        """Must what source sends to dest wait?"""
        return self.look(CUTS) != 0 and not self.stopping and self.links[source, dest] != 0

    def blocked_from(self, plan: Plan, rank: int, ranks=None) -> int | None:
        """Over which cut link this rank would receive in a collective: from whom, if there is one."""
        if self.look(CUTS) == 0 or self.stopping:
            return None
        world = range(plan.size) if ranks is None else ranks
        return next((world[s] for s in sources(plan, rank) if self.links[world[s], world[rank]]), None)


@lru_cache(maxsize=256)
def sources(plan: Plan, rank: int) -> tuple[int, ...]:
    """From whom a rank receives when the plan is played."""
    return tuple(sorted({int(step.source) for step in plan.steps(rank)} - {NOBODY}))


class Control(Orders):
    """The side of who gives the orders; from any thread, before a run and while it goes on."""

    def __init__(self, size: int):
        size = whole(size, "size", 1, hint="the number of ranks that obey")
        super().__init__(size, np.zeros(length(size)))
        self.limit[:], self.factor[:] = inf, 1.0
        self.version = 0  # of the orders: a simulation looks whether it has changed
        self._kill: Callable[[int], None] | None = None
        self._cancel: Callable[[], None] | None = None

    # ---- orders ----

    def pause(self) -> None:
        """Let every rank end its round, then wait. Who is one round behind the first also ends the next one."""
        first = self.done.max()
        self.limit[:] = np.where(self.done >= first - 1, first + 1, self.done + 1)
        self.version += 1

    step = pause  # of a run that waits: one round more

    def resume(self) -> None:
        self.limit[:] = inf
        self.version += 1

    def slow(self, rank: int, factor: float) -> None:
        """Its local work takes `factor` times as long from now on; 1: as it was."""
        hint = "how many times as long local work takes (5: five times slower)"
        self.factor[self._known(rank)] = real(factor, "factor", least=1, hint=hint)
        self.version += 1

    def cut(self, a: int, b: int) -> None:
        """Whatever these two send to each other is held back until the link is healed."""
        self._link(a, b, 1)

    def heal(self, a: int, b: int) -> None:
        self._link(a, b, 0)

    def kill(self, rank: int) -> None:
        """End a rank without warning: SIGKILL to its process; in the simulator it crashes at its next local work."""
        rank = self._known(rank)
        if self._kill is None:
            raise RuntimeError(f"rank {rank} cannot be killed: no run goes on")
        self._kill(rank)
        self.version += 1

    def stop(self) -> None:
        """End the run, even if all ranks wait: it raises a CommError."""
        self.words[STOP] = 1
        self.version += 1
        if self._cancel is not None:
            self._cancel()

    # ---- what can be seen ----

    @property
    def paused(self) -> bool:
        return bool((self.limit < inf).any())

    def cut_links(self) -> list[tuple[int, int]]:
        return [(int(a), int(b)) for a, b in np.argwhere(self.links) if a < b]

    def waiting(self) -> list[tuple[int, int]]:
        """(rank, the rank it waits for) at cut links."""
        return [(int(rank), int(self.waits[rank]) - 1) for rank in np.flatnonzero(self.waits)]

    # ---- for transports ----

    def bind(self, words: np.ndarray, kill: Callable[[int], None], cancel: Callable[[], None]) -> None:
        """A run begins: the orders so far hold for it, and from now on they are written where its ranks look."""
        words[:] = self.words
        super().__init__(self.size, words)
        self.done[:] = self.waits[:] = 0
        self._kill, self._cancel = kill, cancel

    def unbind(self) -> None:
        """It has ended; the array may be the next one's."""
        self._kill = self._cancel = None
        super().__init__(self.size, self.words.copy())

    def _link(self, a: int, b: int, broken: int) -> None:
        a, b = self._known(a), self._known(b)
        if a == b:
            raise ValueError(f"a link joins two ranks, not rank {a} with itself")
        self.links[a, b] = self.links[b, a] = broken
        self.words[CUTS] = self.links.sum() / 2
        self.version += 1

    def _known(self, rank: int) -> int:
        rank = whole(rank, "the rank")
        if 0 <= rank < self.size:
            return rank
        raise ValueError(f"there is no rank {rank}; the ranks are 0 ... {self.size - 1}")
