"""Lesson 11: train a configuration once, and ask for its time on any network.

Where everybody waits for its partners, messages and weights do not depend on how long anything takes. So a run is
played again with messages that weigh what they weighed and hold nothing: the same virtual seconds, to the bit, without
learning anything. (The thought of the simulator in Vishnyakov and Andreev, the course's last source.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import mean

import numpy as np

from dlmini.comm.ghost import Ghost
from dlmini.comm.launch import launch
from dlmini.comm.network import Network, gigabit
from dlmini.compression import None_, Threshold, TopK
from dlmini.configurations import KEPT, Row, row_of, ten
from dlmini.events import Round
from dlmini.optim import SGD
from dlmini.outcome import Outcome
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim import Cluster, Simulated
from dlmini.sync import LocalSGD
from dlmini.topology import AllReduce, Choco, Gossip
from dlmini.topology.graphs import heard, matrix_of

WORKERS = 16
GRADIENT = 5e-3  # virtual seconds of a step
RATE = 0.05


@dataclass(frozen=True, eq=False)
class Trained:
    """A configuration that was trained. row: what it came to; said: bytes of every packet, [round, worker]."""

    row: Row
    recipe: Recipe
    size: int
    said: np.ndarray
    weights: np.ndarray

    @property
    def curve(self) -> list[tuple[int, float]]:
        """(steps of a worker, accuracy) at every look."""
        return [(round(point.epochs), point.accuracy) for point in self.row.curve]


def machines(network: Network = gigabit, step: float = GRADIENT) -> Cluster:
    """Equal machines: a gradient takes `step`, making a packet nothing."""
    return Cluster(network, seconds={"gradient": step, "encode": 0.0})


def trained(task, recipe: Recipe, number: int = 0, network: Network = gigabit, workers: int = WORKERS) -> Trained:
    outcome = train(task, recipe, Simulated(workers, machines(network))).result()
    return Trained(row_of(number, outcome), recipe, task.size, packets(outcome, workers), outcome.weights)


def packets(outcome: Outcome, workers: int) -> np.ndarray:
    found = np.zeros((outcome.recipe.rounds, workers), int)
    for event in outcome.events:
        if isinstance(event, Round):
            found[event.t, event.rank] = event.nbytes
    return found


def all_ten(task, steps: int, looks: int = 8, network: Network = gigabit) -> dict[int, Trained]:
    """The ten configurations by number, `steps` steps each."""
    return {n: trained(task, recipe, n, network) for n, recipe in ten(steps, SGD(RATE), looks).items()}


OTHERS = {
    11: (LocalSGD(1), AllReduce(), Threshold(keep=KEPT), "AllReduce"),
    12: (LocalSGD(16), AllReduce(), Threshold(keep=KEPT), "AllReduce"),
    13: (LocalSGD(1), Gossip("one_peer", "weights"), None_(), "Gossip of weights, one peer"),
    14: (LocalSGD(4), Gossip("one_peer", "weights"), None_(), "Gossip of weights, one peer"),
    15: (LocalSGD(1), Choco(TopK(KEPT), gamma=0.3), None_(), "Choco, 5 %"),
    16: (LocalSGD(1), AllReduce(back=Threshold(keep=KEPT)), Threshold(keep=KEPT), "AllReduce, brief both ways"),
}


def others(task, steps: int, numbers=OTHERS, looks: int = 8) -> dict[int, Trained]:
    """Configurations that the publication has not tried, numbered on."""
    found = {}
    for n in numbers:
        *levels, name = OTHERS[n]
        run = trained(task, recipe_of(*levels, steps, looks), n)
        found[n] = replace(run, row=replace(run.row, topology=name))
    return found


def recipe_of(sync, topology, compression, steps: int, looks: int = 8, rate: float = RATE, seed: int = 0) -> Recipe:
    """Another configuration, under the same conditions as the ten."""
    rounds = max(1, steps // sync.steps)
    look = max(1, rounds // looks)
    terms = {"optimizer": SGD(rate), "rounds": rounds, "evaluate_every": look, "all_workers": True, "seed": seed}
    return Recipe(sync, topology, compression, **terms)


# ---- again, without learning ----


def replay(comm, recipe: Recipe, size: int, said: np.ndarray) -> None:
    """The worker's life of loop.py with nothing in it but time and messages."""
    for t in range(len(said)):
        for _ in range(recipe.sync.period(t)):
            comm.compute("gradient", None)
        message = Ghost(said[t, comm.rank], "u1")
        if isinstance(recipe.topology, Gossip):
            for _ in heard(comm, matrix_of(recipe.topology.graph, comm.size, t), message):
                pass
        elif recipe.compression.summable:
            comm.allreduce(Ghost(size))
        else:
            comm.allgather(message)


def repriced(run: Trained, network: Network, step: float = GRADIENT, steps: int | None = None) -> Row:
    """What the run, or its first `steps` steps, would have cost on another network: the accuracy is the same."""
    known = isinstance(run.recipe.topology, AllReduce | Gossip) and getattr(run.recipe.topology, "back", None) is None
    if not known or run.recipe.sync.staleness:
        raise ValueError(f"{run.recipe!r} is not played again: use AllReduce or Gossip, and somebody who waits")
    said = run.said if steps is None else run.said[: steps // run.recipe.sync.steps]
    results = launch(replay, Simulated(said.shape[1], machines(network, step)), (run.recipe, run.size, said))
    phases = {name: mean(getattr(p, name) for p in results.phases) for name in ("compute", "communication", "waiting")}
    sent = results.books.total()
    costs = {"seconds": results.seconds, "megabytes": sent.nbytes / 1e6, "messages": sent.messages}
    return replace(run.row, **costs, **phases, curve=())


def everywhere(runs: Mapping[int, Trained], networks: Mapping[str, Network]) -> dict[str, list[Row]]:
    """All runs on all networks."""
    return {name: [repriced(run, network) for run in runs.values()] for name, network in networks.items()}
