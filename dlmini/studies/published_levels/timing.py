"""How long the configurations take on clusters of the document's shape: nothing is learned, so 210 ranks take seconds.

Time in the simulator depends on how long a gradient takes and how many bytes are said, and not on what they say. So a
gradient here is a vector drawn once, of which a given share exceeds the threshold; the document says 5 %.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dlmini.comm.network import Nodes
from dlmini.configurations import Row, compare
from dlmini.nn import Model
from dlmini.sim import Cluster, Simulated
from dlmini.studies.published_levels.clusters import CLUSTERS, INSIDE
from dlmini.studies.published_levels.description import BATCH, THRESHOLD, ten_as_published

KEPT = 0.05
ITERATIONS = 16  # those that are timed exchange at least once


@dataclass(frozen=True)
class Drawn:
    """A task of a network's size and work, whose gradients are drawn once for each rank."""

    model: Model
    batch: int = BATCH
    kept: float = KEPT

    @property
    def size(self) -> int:
        return self.model.size

    @property
    def flops(self) -> float:
        return 3.0 * self.model.flops * self.batch

    def initial(self, seed: int = 0) -> np.ndarray:
        return np.zeros(self.size, np.float32)

    def batches(self, shard: int, of: int, seed: int, skip: int = 0):
        """Signs drawn at random; the share `kept` twice the threshold, the others so little that no sum reaches it."""
        coin = np.random.default_rng([seed, shard])
        large = np.where(coin.random(self.size) < self.kept, 2 * THRESHOLD, THRESHOLD / 1000)
        grad = (large * coin.choice((-1, 1), self.size)).astype(np.float32)
        while True:
            yield grad

    def loss_and_grad(self, w, batch, grad, ready=None) -> float:
        grad[:] = batch
        return 0.0

    def evaluate(self, w) -> dict[str, float]:
        return {"loss": 0.0, "accuracy": 0.0}


def timed(model: Model, name: str, workers: int, only=(1, 2, 9)) -> dict[int, Row]:
    """Rows of some configurations on a cluster, by number; the accuracy in them means nothing."""
    place = Simulated(workers, CLUSTERS[name].cluster(workers))
    rows = compare(Drawn(model), ten_as_published(ITERATIONS, only=only), place)
    return {row.number: row for row in rows}


def teams(model: Model, name: str, nodes: int) -> dict[int, float]:
    """Seconds of communication of configuration 1, by ranks: a rank for each core, or a rank of threads for each node.

    Threads are taken to share a batch without loss, and all machines to be equal: what differs is who talks.
    """
    shape, found = CLUSTERS[name], {}
    for ranks in (nodes * shape.cores, nodes):
        threads = nodes * shape.cores // ranks
        network = Nodes(shape.cores // threads, INSIDE, shape.between)
        on = Cluster(network, flops=threads * replace(shape.cluster(nodes)).flops)
        task = Drawn(model, BATCH * threads)
        (row,) = compare(task, ten_as_published(ITERATIONS, only=(1,)), Simulated(ranks, on))
        found[ranks] = row.communication
    return found
