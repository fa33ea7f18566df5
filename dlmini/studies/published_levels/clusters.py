"""Machines shaped like those of the document: how many nodes of how many cores, and who shares a network card.

The document says of the networks only that on Polus messages take little of the time, and on Lomonosov-2 most of it.
So the links are assumptions: 100 Gbit/s a node there, Gigabit Ethernet a node here.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from dlmini.checks import whole
from dlmini.comm.network import Link, Nodes
from dlmini.configurations import FLOPS, JITTER
from dlmini.sim import Cluster

INSIDE = Link(1e-6, 8e9)  # between two processes of one machine


@dataclass(frozen=True)
class Shape:
    """nodes: as many as there were in one of the experiments; cores: of each."""

    name: str
    nodes: tuple[int, ...]
    cores: int
    between: Link

    def cluster(self, workers: int, flops: float = FLOPS, jitter: float = JITTER) -> Cluster:
        """Workers spread evenly over the fewest nodes that the document used and that have a core for each."""
        workers = whole(workers, "workers", 1)
        fitting = [nodes for nodes in self.nodes if nodes * self.cores >= workers]
        if not fitting:
            most = self.nodes[-1] * self.cores
            raise ValueError(f"{workers} workers: {self.name} had {most} cores at most; take that many or fewer")
        network = Nodes(ceil(workers / fitting[0]), INSIDE, self.between)
        return Cluster(network, flops=flops, jitter=jitter)


CLUSTERS = {
    "polus": Shape("polus", (3,), 20, Link(1.5e-6, 12e9)),
    "lomonosov2": Shape("lomonosov2", (3, 5, 15), 14, Link(100e-6, 117e6)),
}
