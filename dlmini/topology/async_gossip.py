"""Gossip without appointments: push half of what you have to somebody, mix what has come, go on."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dlmini.comm.errors import DeadRank
from dlmini.topology.graphs import graph_of, matrix_of, onward
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn

NEWS = 3  # the tag of its messages
PARTNER = 16  # the purpose of the coin that chooses whom to push to
LEAST = 2.0**-500  # who has less weight than this keeps it, so that it never becomes zero


@dataclass(frozen=True)
class AsyncGossip(Topology):
    """GoSGD: weights x travel with a share of their sender's weight, and are mixed by it when they are found.

        x_i -= outer(packet_i)                                                  learn
        x_i <- (weight_i x_i + a x_j) / (weight_i + a),   weight_i += a         for each (x_j, a) that has come
        weight_i /= 2,   send (x_i, weight_i) to one other                      push
    Nobody ever waits, so a slow worker slows nobody; its news are old when they come, and others' have piled up when it
    looks. Weights begin with 1, and their sum, those on their way included, stays P; so does sum_i weight_i x_i while
    nobody learns (push-sum, Kempe et al. 2003). Results depend on who was first.
    Where rounds are much shorter than a message's way, workers give their weight away before any comes back: learn
    longer in between, LocalSGD(10) or more (the paper pushes only now and then, with probability p).
    After the last round, and where memories are kept, all say goodbye to all and wait for the others': messages of a
    sender come in order, so after its goodbye there are none.
    A worker that dies takes its weight with it, and what is pushed to it before that is known. The others' weights then
    sum to less than P; since numbers are always mixed in proportion to weights, nothing else changes.
    graph: "random" pushes to anybody; another graph to one of the neighbours in it, by chance.
    Cost: one vector a round, and P - 1 empty messages at the end.
    Blot et al., Gossip training for deep learning, 2016.
    """

    word = "async_gossip"
    graph: object = "random"
    waits: ClassVar[bool] = False
    sends: ClassVar[str] = "weights"
    survives: ClassVar[bool] = True

    def __post_init__(self):
        object.__setattr__(self, "graph", graph_of(self.graph))

    def start(self, comm, w, recipe, shapes):
        return Purse(self, recipe)

    def reachable(self, size: int, rank: int, t: int) -> np.ndarray:
        """To whom a worker may push in round t."""
        K = np.ones((size, size)) if self.graph == "random" else matrix_of(self.graph, size, t)
        others = np.flatnonzero(K[:, rank])
        return others[others != rank]


class Purse:
    """One worker's weight, and who has said goodbye, or will never."""

    def __init__(self, topology: AsyncGossip, recipe):
        self.topology, self.recipe = topology, recipe
        self.weight, self.gone = 1.0, set()

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        turn.mixed[:] = 0
        turn.packet.add_to(turn.mixed)
        x = turn.step(outer)
        while comm.poll(tag=NEWS):
            self.mix(x, *comm.recv_any(NEWS))
        self.push(comm, x, turn.t)
        if turn.t == self.recipe.rounds - 1 or self.recipe.checkpoints_after(turn.t):
            self.say_goodbye(comm, x)
        return x

    def mix(self, x: np.ndarray, source: int, news) -> None:
        """x <- (weight x + a other) / (weight + a), as a step towards the other: who agree, agree to the bit."""
        if news is None:
            self.gone.add(source)
            return
        other, a = news
        self.weight += a
        other -= x
        other *= np.float32(a / self.weight)
        x += other

    def push(self, comm, x: np.ndarray, t: int) -> None:
        others = self.topology.reachable(comm.size, comm.rank, t)
        if gone := comm.gone():
            others = np.setdiff1d(others, list(gone))
        if not others.size or self.weight < LEAST:
            return
        self.weight /= 2
        coin = np.random.default_rng([self.recipe.seed, comm.rank, t, PARTNER])
        comm.send(int(coin.choice(others)), (x, self.weight), NEWS)

    def say_goodbye(self, comm, x: np.ndarray) -> None:
        """Take in everything that is still on its way."""
        others = [rank for rank in range(comm.size) if rank != comm.rank]
        for rank in onward(others, comm.rank, comm.size):
            comm.send(rank, None, NEWS)
        for rank in others:
            while rank not in self.gone:
                try:
                    self.mix(x, rank, comm.recv(rank, NEWS))
                except DeadRank:
                    self.gone.add(rank)
        self.gone.clear()

    def memory(self) -> dict:
        return {"weight": self.weight}

    def restore(self, memory: dict) -> None:
        self.weight = float(memory["weight"])
