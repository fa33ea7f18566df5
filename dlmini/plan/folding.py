"""Folding: ranks that provably do the same at the same time are played as one.

The tensor-parallel ranks of a stage begin together, compute the same, and meet in the same sums; so do the copies of a
replica. By induction their clocks are equal to the bit, as long as nothing tells them apart:

    every chunk of a sum has the same length          else the ring's steps differ by rank
    all hops of a ring go over links of one kind      else some ranks are later than others
    each rank has ports of its own                    else they queue, and who is first is left to chance
    no two messages come to a port at one moment      for the same reason
Then a sum among n such ranks is a recurrence of one clock: the very operations that the simulator makes for a ring,
in the same order, so folded equals unfolded in every bit. What is not so is refused.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from dlmini import jit
from dlmini.comm.ghost import Ghost
from dlmini.comm.network import Link, Nodes
from dlmini.parallel.timetable import BACKWARD, FORWARD
from dlmini.plan.layout import Layout
from dlmini.plan.sheets import Sheet


def ring_end(clock: float, free: float, steps: int, pause: float, latency: float) -> float:
    """When a ring of equal ranks that come at `clock` ends: a step is a message of `pause` seconds through two ports.

    free: when the rank's own port is free again.
    """
    start = free if free > clock else clock
    for _ in range(steps):
        first, second = (start + pause) + latency, (start + latency) + pause
        start = first if first > second else second
    return start if steps else clock


WORK, SUM, POST, WAIT = range(4)


def replayed(clock, busy, free, kinds, amounts, steps, latency):
    """A row of work and sums from `clock` on: (clock, busy) at its end. amounts: seconds of work, or of one message.

    A sum that is posted goes on beside the work until it is waited for; sums of a rank follow one another.
    The readable twin of the function in kernels.py.
    """
    ended = clock
    for kind, amount, count in zip(kinds, amounts, steps, strict=True):
        if kind == WORK:
            clock += amount
        elif kind == WAIT:
            clock = max(clock, ended)
        else:
            busy = ended = ring_end(max(clock, busy), free, count, amount, latency)
            if kind == SUM:
                clock = max(clock, ended)
    return clock, busy


class Row:
    """What one job of a stage does: recorded once, by running the stage's own code with this as communicator and as
    tensor group; then replayed for every micro-batch."""

    def __init__(self, size: int, link: Link, seconds: float):
        self.size, self.out, self.seconds, self.share = size, link.out(0), seconds, 0.0
        self.kinds, self.amounts, self.steps = [], [], []

    def add(self, kind: int, amount: float = 0.0, steps: int = 0) -> None:
        self.kinds.append(kind), self.amounts.append(amount), self.steps.append(steps)

    def reached(self, share: float) -> None:
        if share > self.share:
            self.add(WORK, self.seconds * (share - self.share))
            self.share = share

    def allreduce(self, x: Ghost, wait: bool = True):
        return self.sum(x, 2, wait)

    def reduce_scatter(self, x: Ghost, wait: bool = True):
        return self.sum(x, 1, wait)

    def allgather(self, x: Ghost):
        return self.sum(Ghost(x.size * self.size, x.dtype), 1, True)

    def sum(self, x: Ghost, rounds: int, wait: bool) -> Row:
        self.add(SUM if wait else POST, message_seconds(x, self), rounds * (self.size - 1))
        return self

    def wait(self) -> None:
        self.add(WAIT)

    def arrays(self) -> tuple:
        return np.array(self.kinds), np.array(self.amounts, float), np.array(self.steps), self.out.latency

    def play(self, comm, busy: float, play) -> float:
        """Now, on a simulated rank; when its last sum ends."""
        if not self.kinds:
            return busy
        called = comm.clock
        comm.clock, busy = play(called, busy, 0.0, *self.found)
        comm._job[2] = self.share
        done = min(called + self.seconds * self.share, comm.clock)
        comm._book_time(done, done, comm.clock)
        return busy


def message_seconds(x: Ghost, group) -> float:
    """Of one message of a sum; chunks must be equal."""
    numbers = x.size
    if numbers % group.size:
        raise ValueError(f"{numbers} numbers among {group.size} folded ranks: their chunks are not equal")
    return float(numbers // group.size * x.itemsize) * group.out.per_byte


class Folded:
    """A group of `size` ranks like this one, for sums that are waited for.

    port: by which messages of the rank leave, too.
    """

    def __init__(self, comm, size: int, link: Link, port: int):
        self.comm, self.size, self.out, self.port = comm, size, link.out(0), port

    def allreduce(self, x: Ghost) -> Ghost:
        return self.play(x, 2, x)

    def reduce_scatter(self, x: Ghost) -> Ghost:
        return self.play(x, 1, Ghost(x.size // self.size, x.dtype))

    def allgather(self, x: Ghost) -> list[Ghost]:
        return self.play(Ghost(x.size * self.size, x.dtype), 1, [x] * self.size)

    def play(self, x: Ghost, rounds: int, result):
        comm, pause = self.comm, message_seconds(x, self)
        called, free = comm.clock, comm.engine.free[self.port]
        comm.clock = max(called, ring_end(called, free, rounds * (self.size - 1), pause, self.out.latency))
        comm._book_time(called, called, comm.clock)
        return result


class FoldedLane(Folded):
    """The same for sums that are posted: they follow one another, beside the rank's work, until they are waited for."""

    def __init__(self, comm, size: int, link: Link, port: int):
        super().__init__(comm, size, link, port)
        self.busy = 0.0

    def allgather(self, x: Ghost, wait: bool = False) -> Promise:
        return self.post(Ghost(x.size * self.size, x.dtype))

    def reduce_scatter(self, x: Ghost, wait: bool = False) -> Promise:
        return self.post(x)

    def allreduce(self, x: Ghost, wait: bool = False) -> Promise:
        return self.post(x, 2)

    def post(self, x: Ghost, rounds: int = 1) -> Promise:
        start = max(self.comm.clock, self.busy)
        self.busy = ring_end(start, 0.0, rounds * (self.size - 1), message_seconds(x, self), self.out.latency)
        return Promise(self.comm, self.busy)


class Promise:
    """Something posted that ends at a moment which is known."""

    def __init__(self, comm, ended: float):
        self.comm, self.ended = comm, ended

    def wait(self) -> None:
        called = self.comm.clock
        self.comm.clock = max(called, self.ended)
        self.comm._book_time(called, called, self.comm.clock)


class FoldedStage:
    """A stage whose jobs are rows: what `play` wants."""

    def __init__(self, comm, make, size: int, link: Link):
        """make(comm, tensor): the stage that is recorded."""
        self.comm, self.busy, self.rows = comm, 0.0, {}
        for kind in (FORWARD, BACKWARD):
            row = Row(size, link, make(None, None).flops(kind, 0))
            stage = make(row, row)
            row.result = getattr(stage, kind)(0, None)
            row.found = row.arrays()
            self.rows[kind] = row

    def flops(self, kind: str, micro: int) -> float:
        return self.rows[kind].seconds

    def forward(self, micro: int, x):
        return self._play(self.rows[FORWARD])

    def backward(self, micro: int, dy):
        return self._play(self.rows[BACKWARD])

    def _play(self, row: Row):
        self.busy = row.play(self.comm, self.busy, compiled())
        return row.result


@lru_cache(maxsize=1)
def compiled():
    if jit.mode() == "numpy":
        return replayed
    from dlmini.plan import kernels

    return kernels.replayed


def folded_network(network: Nodes, tensor: int) -> Nodes:
    """What the ranks of one pipeline see of it, if `tensor` ranks are one."""
    return replace(network, per_node=max(1, network.per_node // tensor))


def foldable(sheet: Sheet, layout: Layout, network: Nodes) -> str:
    """Why ranks cannot be folded exactly; empty if they can."""
    t, p, d, n = layout.tensor, layout.pipe, layout.data, network.per_node
    if network.shared:
        return "the ranks of a node queue for one card"
    if t > 1 and sheet.sequence * layout.micro * sheet.hidden % t:
        return f"sums of {sheet.sequence * layout.micro * sheet.hidden} numbers among tensor={t} have unequal chunks"
    if t > 1 and (t > n or n % t):
        return f"tensor={t} ranks lie across nodes of {n}"
    if t > 1 and p > 1 and t != n:
        return f"messages between stages and sums inside layers may meet inside a node of {n}; use tensor={n} or 1"
    replica = t * p
    if d > 1 and replica < n and d * replica > n:
        return f"copies of {replica} ranks lie partly in one node of {n}, partly in others"
    if d > 1 and p > 1 and replica % n and n % replica:
        return f"pipelines of {replica} ranks begin at different places of nodes of {n}"
    if d > 1 and p > 1 and t == 1 and p < n:
        return "sums of copies and messages between stages may meet inside a node"
    return ""


def refuse_ties(log, network: Nodes, size: int) -> None:
    """Refuse a run in which two messages came to one port at one moment: in another copy the other may be first."""
    free, seen = {}, set()
    for sent, _, (source, dest, _), nbytes, *_ in sorted(log or (), key=lambda row: row[0]):
        route = network.route(source, dest, size)
        port = (network.inside if route[0] < size else network.between).out(source)
        start = max(sent, free.get(route[0], 0.0))
        free[route[0]] = start + nbytes * port.per_byte
        head = (route[1], start + port.latency)
        if head in seen:
            raise ValueError(
                f"this step cannot be folded exactly: two messages reach rank {dest} at {head[1]:.6g} s, and which of "
                "them is first is left to chance; use fold=False"
            )
        seen.add(head)
