"""Lesson 06: what happens when nobody waits: pushes per second, staleness, how far who is ahead.

One of N workers is s times slower, a gradient takes g seconds, the network is free:

    bulk-synchronous        N pushes in s g seconds
    asynchronous            N - 1 + 1/s pushes in g seconds
    stale-synchronous(b)    an ordinary worker ends round R at  (R - 1 - b) s g + g,  once it has run b rounds ahead
    staleness               N - 1 on average over pushes, whatever the speeds
Ho et al., More effective distributed ML via a stale synchronous parallel parameter server, NIPS 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dlmini.comm.network import Network
from dlmini.data import blobs
from dlmini.events import Served
from dlmini.lessons.data_parallelism.costs import nothing
from dlmini.nn import mlp
from dlmini.optim import SGD
from dlmini.outcome import Outcome
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim import Cluster, Simulated
from dlmini.sync.gate import Gate
from dlmini.sync.sync import Sync
from dlmini.task import Classify
from dlmini.topology import ParameterServer

GRADIENT = 0.01  # virtual seconds of a gradient on an ordinary machine


def small_task() -> Classify:
    """Something to learn for experiments that look at clocks only."""
    data = blobs(240)
    return Classify(mlp((8,), input=(2,), classes=3), data, data, batch=10)


def raced(
    task,
    sync: Sync,
    slower: float = 1.0,
    jitter: float = 0.0,
    workers: int = 8,
    rounds: int = 40,
    network: Network = nothing,
    optimizer=None,
    outer=None,
    evaluate_every: int = 0,
    spans: bool = False,
) -> Outcome:
    """Training by one parameter server in virtual time, with worker 1 `slower` times slower than the others."""
    cluster = Cluster(network, seconds={"gradient": GRADIENT, "encode": 0.0}, speed={1: 1 / slower}, jitter=jitter)
    recipe = Recipe(
        sync,
        ParameterServer(),
        optimizer=optimizer or SGD(0.05),
        outer=outer,
        rounds=rounds,
        evaluate_every=evaluate_every,
    )
    return train(task, recipe, Simulated(workers + 1, cluster, spans=spans)).result()


# ---- what the server saw ----


def pushes(outcome: Outcome) -> list[Served]:
    """The pushes until somebody had done all its rounds: until then everybody was at work."""
    served = [event for event in outcome.events if isinstance(event, Served)]
    end = min(event.at for event in served if event.t == outcome.recipe.rounds - 1)
    return [event for event in served if event.at <= end]


def pace(outcome: Outcome) -> float:
    """Pushes per second."""
    found = pushes(outcome)
    return len(found) / found[-1].at


def ended(outcome: Outcome, worker: int = 0) -> float:
    """When the worker's last push came."""
    return max(event.at for event in outcome.events if isinstance(event, Served) and event.worker == worker)


def staleness(outcome: Outcome, worker: int | None = None) -> np.ndarray:
    """Of every push, or of those of one worker."""
    return np.array([event.staleness for event in pushes(outcome) if worker in (None, event.worker)])


def edge(outcome: Outcome) -> float:
    """How far the mean staleness may be from N - 1 because the first cycles begin, and the last ones end, within a lap.

    A worker's cycles tile the time but for its last, unfinished one, which holds at most as many pushes as its longest.
    """
    found = pushes(outcome)
    workers = {event.worker for event in found}
    missing = sum(max(e.staleness for e in found if e.worker == w) + 1 for w in workers)
    return missing / ((len(workers) - 1) * len(found))


def lead(outcome: Outcome) -> tuple[np.ndarray, np.ndarray]:
    """(seconds, rounds): how many rounds the fastest worker has done more than the slowest, after every push."""
    clocks, at, ahead = {}, [], []
    found = pushes(outcome)
    for worker in {event.worker for event in found}:
        clocks[worker] = 0
    for event in found:
        clocks[event.worker] = event.t + 1
        at.append(event.at)
        ahead.append(max(clocks.values()) - min(clocks.values()))
    return np.array(at), np.array(ahead)


# ---- a student's gate in the place of the library's ----


class OwnGate(Gate):
    """Who may go on is decided by a function may_proceed(clocks, worker, bound)."""

    def __init__(self, workers, rounds, halts, bound: float, may_proceed: Callable):
        super().__init__(workers, rounds, halts)
        self.bound, self.may_proceed = bound, may_proceed

    def may_go_on(self, worker: int) -> bool:
        return bool(self.may_proceed(self.clocks.tolist(), worker, self.bound))


@dataclass(frozen=True, repr=False)
class OwnSynchronous(Sync):
    """Stale-synchronous training by a gate of one's own: the library trains with it."""

    bound: int
    may_proceed: Callable

    @property
    def staleness(self) -> float:
        return self.bound

    def gate(self, workers: int, rounds: int, halts) -> OwnGate:
        return OwnGate(workers, rounds, halts, self.bound, self.may_proceed)

    def __repr__(self) -> str:
        return f"OwnSynchronous({self.bound})"


def may_proceed(clocks, worker: int, bound: float) -> bool:
    """Not more than `bound` rounds ahead of the slowest."""
    return clocks[worker] - bound <= min(clocks)
