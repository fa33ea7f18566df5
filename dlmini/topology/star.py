"""One worker is also the server."""

from dataclasses import dataclass

import numpy as np

from dlmini.topology.graphs import asked
from dlmini.topology.owners import PUSH, WayBack, checked_back, wants_memory
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn

FETCH = 2


@dataclass(frozen=True)
class Star(Topology):
    """Everybody sends a packet to worker 0, who adds them in the order of ranks. What comes back is up to `back`:

        None         the new weights, whole:     w = start - outer(1/P sum_j packet_j)      outer lives on worker 0
        a compressor the mean, compressed:       w = start - outer(C(1/P sum_j packet_j))   on everybody, to the bit
    The first is ParameterServer(1) with a full quorum, to the bit, without a machine that only serves. In the second
    worker 0 too steps on what the others decode; what it left unsaid it adds to the next mean, where the recipe's
    workers do so with theirs. Cost: 2 messages per worker, but all pass the port of worker 0, in and then out:
    (P - 1) (packet + S) beta for S bytes of weights, or (P - 1) (packet + packet) beta, where a ring takes
    2 (P - 1)/P S beta. The six classroom computers of Krivosheev, Kuznetsov and Spitsyn work the second way.
    """

    word = "star"
    back: object = None

    def __post_init__(self):
        checked_back(self.back, "worker 0")

    @property
    def everywhere_alike(self) -> bool:
        return self.back is None or self.back.everywhere_alike

    def shares(self, size: int) -> list[float]:
        """With which weight each worker's packet counts."""
        return [1 / size] * size

    def matrix(self, size: int, t: int) -> np.ndarray:
        size, t = asked(size, t)
        return np.tile(self.shares(size), (size, 1))

    def start(self, comm, w, recipe, shapes):
        return self if self.back is None else MeanBack(self, comm.rank, w.size, recipe, shapes)

    def stepped(self, shapes, rank: int, workers: int) -> int:
        """Who is sent the weights does not step."""
        return 0 if rank and self.back is None else super().stepped(shapes, rank, workers)

    def kept(self, shapes, rank: int, workers: int, recipe) -> int:
        own = rank == 0 and self.back is not None and wants_memory(self.back, recipe)
        return super().stepped(shapes, rank, workers) if own else 0

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        """Weights come back."""
        if comm.rank:
            comm.send(0, turn.packet, PUSH)
            turn.w[:] = comm.recv(0, FETCH)
            return turn.w
        self.gather(comm, turn)
        w = turn.step(outer)
        for rank in range(1, comm.size):
            comm.send(rank, w, FETCH)
        return w

    def gather(self, comm, turn: Turn) -> None:
        """On worker 0: what all say, mixed."""
        turn.mixed[:] = 0
        for rank, share in enumerate(self.shares(comm.size)):
            packet = comm.recv(rank, PUSH) if rank else turn.packet
            packet.add_to(turn.mixed, share)


class MeanBack:
    """One worker where the mean comes back. Worker 0 remembers what it has not said of it yet."""

    def __init__(self, star: Star, rank: int, size: int, recipe, shapes):
        self.star, self.way = star, WayBack(star.back, shapes, 0 if rank else size, recipe)

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        if comm.rank:
            comm.send(0, turn.packet, PUSH)
            packet = comm.recv(0, FETCH)
        else:
            self.star.gather(comm, turn)
            packet = self.way.say(comm, turn.mixed, turn.t)
            for rank in range(1, comm.size):
                comm.send(rank, packet, FETCH)
        turn.mixed[:] = 0
        packet.add_to(turn.mixed)
        return turn.step(outer)

    def memory(self) -> dict:
        return self.way.memory()

    def restore(self, memory: dict) -> None:
        self.way.restore(memory)
