"""What all ranks do together, out of sends and receives. All ranks of a communicator call the same verbs in one order.

Sums are bit-equal on every rank and on every transport: the order of addition is fixed by the schedule (schedules/),
never by who came first. Only a transport's own `native` sum may differ in the last bits, where it says so.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from dlmini.comm.channels import ALLGATHER, ALLREDUCE, BARRIER, BCAST, GATHER, REDUCE_SCATTER
from dlmini.comm.ghost import Ghost
from dlmini.comm.pending import Pending, Reshaped, Stepwise
from dlmini.comm.schedules import Owned, Parts, Plan, Slices, doubling, native, play, ring, schedule, tree
from dlmini.comm.wire import copied


class Collectives:
    """The verbs that `Comm` inherits.

    A transport with something better overrides `_native_allreduce`, `_native_reduce_scatter`, `_native_allgather` or
    `_native_bcast`.
    """

    __slots__ = ()
    _unfinished = ()  # what this rank has posted, where it works on that itself (pending.py)

    def barrier(self) -> None:
        """Nobody leaves before everybody has come: recursive doubling with empty messages, log2 N steps."""
        self._finish_posted()
        self._wait_for_all(plan_of(doubling, "allreduce", self.size))

    def bcast(self, x=None, root: int = 0):
        """Root's message, on every rank: a binomial tree, ceil(log2 N) steps. What others pass in is ignored."""
        self._finish_posted()
        return self._native_bcast(x, self._checked(root, "broadcast from"))

    def gather(self, x, root: int = 0) -> list | None:
        """Every rank's message by rank, on the root; None elsewhere."""
        root = self._checked(root, "gather at")
        self._finish_posted()
        if self.rank != root:
            return self._send(root, x, GATHER)
        return [x if source == root else self._recv(source, GATHER) for source in range(self.size)]

    def allgather(self, x, how=native, wait: bool = True):
        """Every rank's message by rank, on every rank: of any kind, of different sizes; one's own is not copied.

        wait=False as in `allreduce`.
        """
        if how is native and wait:
            self._finish_posted()
            return self._native_allgather(x)
        pending = self._gather_all(self._plan(how, "allgather"), x if wait else copied(x)[0])
        return pending.wait() if wait else pending.start()

    def allreduce(self, x: np.ndarray, how=native, wait: bool = True):
        """The sum of all ranks' arrays, on every rank, in a new array.

        how: native, ring, tree, doubling, halving_doubling, naive, Hierarchical(g), or a schedule of one's own.
        wait=False: only post it, and go on; `.wait()` on what is returned gives the sum. x may be changed meanwhile.
        Posted collectives of a rank are worked off in their order: beside its other work in the simulator; on real
        transports whenever the rank waits or says how far it is (`reached`), and then `native` is a ring of messages.
        """
        flat = summable(x).reshape(-1)
        if how is native and wait:
            self._finish_posted()
            pending = self._native_allreduce(flat)
        else:
            pending = self._sum(self._plan(how, "allreduce"), flat)
        pending = Reshaped(pending, x.shape)
        return pending.wait() if wait else pending.start()

    def reduce_scatter(self, x: np.ndarray, how=native, wait: bool = True):
        """My part of the sum: of the flattened array, numbers [r n // N, (r + 1) n // N) for rank r.

        wait=False as in `allreduce`.
        """
        flat = summable(x).reshape(-1)
        if how is native and wait:
            self._finish_posted()
            return self._native_reduce_scatter(flat)
        pending = self._sum_part(self._plan(how, "reduce_scatter"), flat)
        return pending.wait() if wait else pending.start()

    def group(self, ranks) -> Collectives:
        """Some ranks as a communicator of their own, renumbered in the given order. Only its members may ask for it.

        Costs nothing. Its messages never meet those of the whole; the same ranks in the same order are the same group.
        """
        from dlmini.comm.group import Group

        return Group(self, ranks)

    def _plan(self, how, verb: str) -> Plan:
        return plan_of(ring if how is native else schedule(how), verb, self.size)

    # ---- what was posted, where a rank works on it itself ----

    def _work_on_posted(self) -> None:
        """As far as messages have come."""
        while self._unfinished and self._unfinished[0].advance():
            self._unfinished.popleft()

    def _finish_posted(self) -> None:
        """To the end: what is called now comes after what was posted before."""
        while self._unfinished:
            self._unfinished.popleft().finish()

    def _work_until(self, source: int, channel: int) -> None:
        """Work on it until this message is here: its sender may need our part in it before it can send."""
        while self._unfinished and not self._due(source, channel):
            self._work_on_posted()

    def _due(self, source: int, channel: int) -> bool:
        """Would a receive not wait: is the message here, or certain never to come?"""
        return self._poll(source, channel)

    # ---- the ways of a transport that has none of its own ----

    def _native_allreduce(self, x) -> Pending:
        return self._sum(plan_of(ring, "allreduce", self.size), x)

    def _native_reduce_scatter(self, x):
        return self._sum_part(plan_of(ring, "reduce_scatter", self.size), x).wait()

    def _native_allgather(self, x) -> list:
        return self._gather_all(plan_of(ring, "allgather", self.size), x).wait()

    def _native_bcast(self, x, root: int):
        store = Parts(1, message=x if self.rank == root else None)
        return play(self, tree.bcast(self.size, root), store, BCAST).parts[0]

    # ---- running a plan: message by message; the simulator overrides these to price it ----

    def _wait_for_all(self, plan: Plan) -> None:
        play(self, plan, Parts(1), BARRIER)

    def _sum(self, plan: Plan, x) -> Pending:
        return Stepwise(self, plan, Slices(x, plan.chunks), ALLREDUCE, lambda store: store.x)

    def _sum_part(self, plan: Plan, x) -> Pending:
        return Stepwise(self, plan, Owned(x, plan), REDUCE_SCATTER, lambda store: store.part(self.rank).copy())

    def _gather_all(self, plan: Plan, x) -> Pending:
        store = Parts(plan.chunks, plan.owned[self.rank], x)
        return Stepwise(self, plan, store, ALLGATHER, lambda store: [store.parts[chunk] for chunk in plan.owned])

    def _add(self, store, lo: int, hi: int, part) -> None:
        """Add a chunk that has arrived: local work, charged by its bytes."""
        start = self.now()
        store.add(lo, hi, part)
        self._charge_sum(getattr(part, "nbytes", 0))
        self._book_work("sum", start, self.now())


@lru_cache(maxsize=256)
def plan_of(how, verb: str, size: int) -> Plan:
    """The schedule's plan for this many ranks, made once."""
    maker = getattr(how, verb, None)
    if maker is None:
        raise ValueError(
            f"{how!r} has no {verb.replace('_', '-')}; ring, halving_doubling and Hierarchical(g) have one"
        )
    return replace(maker(size), trusted=type(how).__module__.startswith("dlmini.comm.schedules."))


def summable(x):
    if isinstance(x, Ghost) or (isinstance(x, np.ndarray) and x.dtype.kind in "iufc"):
        return x
    found = f"an array of {x.dtype}" if isinstance(x, np.ndarray) else f"a {type(x).__name__}"
    raise TypeError(f"only arrays of numbers can be summed over ranks, not {found}; wrap a number as np.array([x])")
