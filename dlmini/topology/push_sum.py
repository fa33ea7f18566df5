"""Gossip along one-way streets: a weight travels with the numbers, and says how much of everybody they hold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dlmini.compression.packets import Dense
from dlmini.topology.graphs import asked, graph_of, heard, matrix_of
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn

CHOICE = 15  # the purpose of the coin that chooses whom to push to


def random_push(size: int, t: int = 0) -> np.ndarray:
    """Keep half, push half to one other, chosen anew each round: columns sum to one, rows do not."""
    size, t = asked(size, t)
    if size == 1:
        return np.eye(1)
    ranks = np.arange(size)
    K = np.eye(size) / 2
    K[(ranks + np.random.default_rng([size, t, CHOICE]).integers(1, size, size)) % size, ranks] = 0.5
    return K


@dataclass(frozen=True)
class PushSum(Topology):
    """Stochastic gradient push: each worker deals out all it has, numbers x and a weight, in shares that sum to one.

        x_i -= outer(packet_i)                             learn; the gradient was taken at z_i
        x_i <- sum_j K_ij x_j,   weight_i <- sum_j K_ij weight_j
        z_i = x_i / weight_i                               what the worker works with; weights begin with 1
    Gossip by plain weights needs rows of K that sum to one, hence agreement on who talks to whom. Here only columns
    must: a worker decides alone where its shares go. Whoever is reached by many gets more than its part of x, and of
    the weight, so the quotient is right: all z_i tend to the mean of all x. Neither sum ever changes.
    graph: a graph of graphs.py, or "random_push": half to one other, chosen anew each round. (Its choices are drawn
    from a coin that all know, so that receivers know for whom to wait.)
    Cost: as Gossip of weights, and one number more. Assran et al., Stochastic gradient push, 2019; Kempe et al. 2003.
    """

    word = "push_sum"
    tried = ({"graph": "random_push"},)
    graph: object = "one_peer"
    sends: ClassVar[str] = "weights"

    def __post_init__(self):
        if not isinstance(self.graph, str) or self.graph != "random_push":
            object.__setattr__(self, "graph", graph_of(self.graph))

    def matrix(self, size: int, t: int) -> np.ndarray:
        return random_push(size, t) if self.graph == "random_push" else matrix_of(self.graph, size, t)

    def start(self, comm, w, recipe, shapes):
        return Mass(self, w)


class Mass:
    """What one worker holds: x, and its weight as the last number, so that both are dealt out alike."""

    def __init__(self, topology: PushSum, w: np.ndarray):
        self.topology = topology
        self.held, self.room = np.append(w, np.float32(1)), np.empty(w.size + 1, np.float32)

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        turn.mixed[:] = 0
        turn.packet.add_to(turn.mixed)
        self.room[:-1] = turn.start  # which may be the same memory as the weights that step
        z = turn.step(outer)
        self.held[:-1] += np.subtract(z, self.room[:-1], out=turn.mixed)
        self.room[:] = 0
        for held, share in heard(comm, self.topology.matrix(comm.size, turn.t), self.held):
            Dense(held).add_to(self.room, share)
        self.held, self.room = self.room, self.held
        return np.divide(self.held[:-1], self.held[-1], out=z)

    def memory(self) -> dict:
        return {"held": self.held[:-1].copy(), "weight": self.held[-1]}

    def restore(self, memory: dict) -> None:
        self.held[:-1], self.held[-1] = memory["held"], memory["weight"]
