"""Gossip of weights that knows where the others want to go: workers with different data find the common minimum."""

from dataclasses import dataclass

import numpy as np

from dlmini.compression.packets import Dense
from dlmini.topology.graphs import graph_of, heard, matrix_of
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn


@dataclass(frozen=True)
class Tracking(Topology):
    """Gradient tracking: besides weights, neighbours mix an estimate y of the mean of all packets, and step by it.

        y_i = (what was mixed of y) + packet_i - packet_i before        y_i = packet_i in the first round
        w_i = sum_j K_ij (start_j - outer(y_j)),    mixed y_i = sum_j K_ij y_j
    Columns of K sum to one, so the mean of all y is the mean of all packets, in every round; and as workers agree, each
    y_i becomes that mean. So at rest nobody is pulled towards its own minimum, as with Gossip(what="weights") at a
    constant rate: all rest where the *sum* of all gradients is zero, however different the data are.
    Cost: two vectors to each neighbour, twice that of Gossip; three vectors of memory. It wants smaller rates.
    Nedic, Olshevsky and Shi, Achieving geometric convergence for distributed optimization over time-varying graphs,
    2017; Di Lorenzo and Scutari, NEXT, 2016.
    """

    word = "tracking"
    tried = ({}, {"graph": "exponential"})
    shown = (("neighbours' weights and slopes (tracking)", {}),)
    graph: object = "ring"
    sends = "weights"

    def __post_init__(self):
        object.__setattr__(self, "graph", graph_of(self.graph))

    def matrix(self, size: int, t: int) -> np.ndarray:
        return matrix_of(self.graph, size, t)

    def kept(self, shapes, rank: int, workers: int, recipe) -> int:
        return 3 * self.stepped(shapes, rank, workers)  # both estimates, and what was said before

    def start(self, comm, w, recipe, shapes):
        return Tracker(self, w)


class Tracker:
    """One worker: its estimate of the mean packet, as mixed, and the packet that it said before."""

    def __init__(self, topology: Tracking, w: np.ndarray):
        self.topology = topology
        self.pair = np.zeros((2, w.size), np.float32)  # weights and estimate, as they travel
        self.y, self.before = self.pair[1], np.zeros_like(w)

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        turn.mixed[:] = 0
        turn.packet.add_to(turn.mixed)
        self.y -= self.before
        self.y += turn.mixed
        self.before[:] = turn.mixed
        turn.mixed[:] = self.y
        self.pair[0] = turn.step(outer)
        self.mix(comm, turn)
        turn.w[:] = self.pair[0]
        return turn.w

    def mix(self, comm, turn: Turn) -> None:
        """Weights and estimates of all neighbours, in one message each."""
        mine = self.pair.reshape(-1).copy()
        self.pair[:] = 0
        for both, share in heard(comm, self.topology.matrix(comm.size, turn.t), mine):
            Dense(both).add_to(self.pair.reshape(-1), share)

    def memory(self) -> dict:
        return {"y": self.y.copy(), "before": self.before.copy()}

    def restore(self, memory: dict) -> None:
        self.y[:], self.before[:] = memory["y"], memory["before"]
