"""`reckon`: all clocks of a collective at once, step by step, as vectors over ranks.

It makes the very floating-point operations of send, port and receive, in the same order, so that the result equals the
message-by-message run bit for bit, provided that at every port the plan's messages come in the order of its steps, and
no more than one per step. Where they do not, `ordered` is False, and price.py plays it message by message.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dlmini import jit
from dlmini.comm.schedules import NOBODY, Plan
from dlmini.sim.pricing.routes import Routes, Way

COMPILED_FROM = 100_000  # messages from which importing Numba pays


@dataclass
class Bill:
    """What a collective costs: per rank (in the group's numbers), and per port."""

    clock: np.ndarray  # when each leaves
    waiting: np.ndarray
    communication: np.ndarray
    compute: np.ndarray
    free: np.ndarray
    last: np.ndarray  # when the last first byte came to each port
    traffic: list[tuple[int, int, int, int]] = field(default_factory=list)  # sender, receiver, messages, bytes
    ordered: bool = True
    met: bool = False  # other messages have been at a port since our first one

    @property
    def seconds(self) -> float:
        """When the last one leaves."""
        return float(self.clock.max())


def reckon(plan: Plan, routes: Routes, arrive, weights: np.ndarray, free, watched: np.ndarray) -> Bill:
    """The bill for a plan whose ranks come at `arrive`; `weights[c]` are the bytes of all chunks before chunk c.

    Per port, `free` says when it is free and `watched` until when foreign messages may have come there.
    """
    n = plan.size
    bill = Bill(*(np.zeros(n) for _ in range(4)), np.array([*free, 0.0]), np.full(len(free) + 1, -np.inf))
    bill.clock[:] = arrive
    passage, to, done, weights, move = None, None, 0, weights.astype(float), chosen(compiled=False)
    for step in plan.steps(np.arange(n)):
        if step.to is not to:
            if passage is not None:
                passage.leave()
            to, passage = step.to, Passage(routes.way(step.to), routes, bill)
        bill.ordered &= passage.advance(step, weights, move, watched)
        done += n
        if done - n < COMPILED_FROM <= done:
            move = chosen(compiled=True)
        if not bill.ordered:
            return bill
    if passage is not None:
        passage.leave()
    bill.free, bill.last = bill.free[:-1], bill.last[:-1]
    return bill


class Passage:
    """A way in use: the state of its ports, a column per message, until another way is taken."""

    def __init__(self, way: Way, routes: Routes, bill: Bill):
        self.way, self.routes, self.bill, self.steps = way, routes, bill, 0
        bill.free[-1] = bill.last[-1] = -np.inf
        n = len(way.to)
        self.free, self.last = bill.free[way.path], bill.last[way.path]
        self.per_byte, self.latency = routes.per_byte[way.path], routes.latency[way.path]
        self.nbytes, *self.scratch = (np.zeros(n) for _ in range(5))
        self.sends = (way.to != NOBODY).astype(float)

    def advance(self, step, weights: np.ndarray, move, watched: np.ndarray) -> bool:
        """One step, by `move`: the function below, or its compiled twin. Is everything in order?"""
        bill, routes, way = self.bill, self.routes, self.way
        ordered = not way.crowded and move(
            way.source, self.sends, step.lo, step.hi, step.add, weights, routes.gamma, routes.overhead,
            self.per_byte, self.latency, way.lax, self.free, self.last,
            bill.clock, bill.waiting, bill.communication, bill.compute, self.nbytes, *self.scratch,
        )  # fmt: skip
        if self.steps == 0:
            used = way.path < len(watched)
            bill.met |= bool((self.last[used] <= watched[way.path[used]]).any())
        self.steps += 1
        return bool(ordered)

    def leave(self) -> None:
        """Give the ports back, and say what has passed."""
        bill, way = self.bill, self.way
        bill.free[way.path], bill.last[way.path] = self.free, self.last
        for i in np.flatnonzero(self.sends).tolist():
            bill.traffic.append((i, int(way.to[i]), self.steps, int(self.nbytes[i])))


def chosen(compiled: bool):
    if not compiled or jit.mode() == "numpy":
        return advance
    from dlmini.sim.pricing import kernels

    return kernels.advance


def pass_ports(head, tail, size, free, last, lax, per_byte, latency) -> bool:
    """All messages through their next port, each its own. True if none comes before the one that was there last."""
    ordered = bool(((head > last) | lax).all())
    last[:] = head
    start = np.maximum(head, free)
    free[:] = start + size * per_byte
    head[:] = start + latency
    tail[:] = np.maximum(tail, free) + latency
    return ordered


def advance(
    source, sends, lo, hi, add, weights, gamma, overhead, per_byte, latency, lax, free, last,
    clock, waiting, communication, compute, nbytes, size, sent, head, tail,
):  # fmt: skip
    """One step: everybody sends, then everybody receives and perhaps adds. True if all ports see it in order."""
    size[:] = (weights[hi] - weights[lo]) * sends
    nbytes += size
    sent[:] = head[:] = tail[:] = clock
    clock += overhead * sends
    communication += clock - sent
    ordered = True
    for hop in range(len(free)):
        ordered &= pass_ports(head, tail, size, free[hop], last[hop], lax[hop], per_byte[hop], latency[hop])
    j = np.flatnonzero(source < len(clock))
    k = source[j]
    called = clock[j]
    left = np.maximum(called, tail[k])
    begun = np.minimum(np.maximum(called, sent[k]), left)
    waiting[j] += begun - called
    communication[j] += left - begun
    clock[j] = left + size[k] * gamma[j] if add else left
    compute[j] += clock[j] - left
    return ordered
