"""Lesson 08: networks that learn by gossip, watched from outside: every worker, and the mean of all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dlmini.comm.launch import launch
from dlmini.events import Snapshot
from dlmini.loop import program
from dlmini.optim import SGD
from dlmini.recipe import Recipe
from dlmini.sim import Simulated
from dlmini.topology.graphs import consensus_distance
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn


class Look(NamedTuple):
    """All workers at one moment: how far apart, what their mean knows, and what each knows alone."""

    epochs: float
    spread: float
    mean: float
    workers: np.ndarray


@dataclass(frozen=True)
class Watched:
    """A training, and all that was seen of it. nbytes: sent by all workers in all rounds."""

    looks: list[Look]
    nbytes: int
    rounds: int

    @property
    def last(self) -> Look:
        return self.looks[-1]

    @property
    def bytes_a_round(self) -> float:
        """That one worker sends, on average."""
        return self.nbytes / self.rounds / len(self.last.workers)


def watched(task, topology, workers: int, epochs: float, rate: float, looks: int = 8, **recipe) -> Watched:
    """Train, and look at everybody's weights `looks` times."""
    rounds = task.steps(epochs, workers)
    look = max(1, rounds // looks)
    recipe = Recipe(
        topology=topology, optimizer=SGD(rate), rounds=rounds, evaluate_every=look, all_workers=True, **recipe
    )
    shown: dict[int, list] = {}

    def hear(event) -> None:
        if isinstance(event, Snapshot):
            shown.setdefault(event.t, []).append((event.rank, event.weights))

    results = launch(program, Simulated(workers), (task, recipe), hear)
    share = workers * task.batch / len(task.train)
    found = [seen(task, (t + 1) * share, [w for _, w in sorted(ws, key=lambda p: p[0])]) for t, ws in shown.items()]
    return Watched(found, results.books.total().nbytes, rounds)


def seen(task, epochs: float, weights: list[np.ndarray]) -> Look:
    alone = np.array([task.evaluate(w)["accuracy"] for w in weights])
    return Look(epochs, consensus_distance(weights), task.evaluate(np.mean(weights, axis=0))["accuracy"], alone)


@dataclass(frozen=True, repr=False)
class Mixed(Topology):
    """Gossip of weights by a function of one's own, step(comm, x, K), and any graph: the library trains with it."""

    step: Callable
    graph: Callable

    def matrix(self, size: int, t: int) -> np.ndarray:
        return self.graph(size, t)

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        turn.mixed[:] = 0
        turn.packet.add_to(turn.mixed)
        mine = turn.step(outer)
        mine[:] = self.step(comm, mine.copy(), self.matrix(comm.size, turn.t))
        return mine

    def __repr__(self) -> str:
        return f"Mixed({getattr(self.step, '__name__', 'function')}, {getattr(self.graph, '__name__', 'graph')})"
