"""Who owns what: every worker a part of the vector. It adds up what all say of its part, and says the mean back."""

from itertools import pairwise

import numpy as np

from dlmini.checks import piece
from dlmini.comm.schedules import cut
from dlmini.topology.graphs import onward

PUSH = 1
BACK = 13  # the purpose of a coin for the way back


class Owners:
    """Of each bucket, every worker owns a part."""

    def __init__(self, edges: list[tuple[int, int]], workers: int):
        self.edges = edges
        self.cuts = [(low + cut(high - low, workers)).tolist() for low, high in edges]

    def parts(self, rank: int) -> list[slice]:
        """Where this worker's parts lie in the vector, bucket by bucket."""
        return [slice(edges[rank], edges[rank + 1]) for edges in self.cuts]

    def size(self, rank: int) -> int:
        return sum(part.stop - part.start for part in self.parts(rank))


def delivered(comm, parts: list) -> list:
    """parts[r] of my packet goes to rank r, who owns it; my parts of all packets, by rank."""
    for rank in onward(range(comm.size), comm.rank, comm.size)[1:]:
        comm.send(rank, parts[rank], PUSH)
    return [parts[rank] if rank == comm.rank else comm.recv(rank, PUSH) for rank in range(comm.size)]


def checked_back(back, who: str):
    """A compressor for the way back, or None: what remembers by itself is refused, since `who` does so already."""
    if back is not None:
        piece(back, "back", ("fit", "remembers"), "a compressor for the way back, such as Int8(), or None")
        if back.remembers:
            raise ValueError(f"back={back!r} remembers by itself, but {who} does so already; use another")
    return back


def wants_memory(back, recipe) -> bool:
    """Whether what was left unsaid on the way back is added to the next mean: as workers do with theirs."""
    return back.wants_feedback if recipe.feedback is None else recipe.feedback


class WayBack:
    """Says means back, compressed, and remembers what it has not said of them yet.

    p = unsaid + mean;   packet = C(p);   unsaid = p - packet
    """

    def __init__(self, back, shapes, size: int, recipe):
        self.codec, self.seed = back.fit(shapes), recipe.seed
        self.unsaid = np.zeros(size if wants_memory(back, recipe) else 0, np.float32)

    def say(self, comm, mean: np.ndarray, t: int):
        """The mean as a packet."""
        coin = np.random.default_rng([self.seed, comm.rank, t, BACK])
        if not self.unsaid.size:
            return comm.compute("encode", self.codec.encode, mean, coin)
        self.unsaid += mean
        packet = comm.compute("encode", self.codec.encode, self.unsaid, coin)
        packet.add_to(self.unsaid, -1.0)
        return packet

    def memory(self) -> dict:
        return {"unsaid": self.unsaid.copy()}

    def restore(self, memory: dict) -> None:
        self.unsaid[:] = memory["unsaid"]


class BothWays:
    """One worker of an all-reduce over owners that is brief there and back."""

    def __init__(self, topology, comm, size: int, recipe):
        self.how, self.cuts = topology.how, cut(size, comm.size).tolist()
        own = self.cuts[comm.rank + 1] - self.cuts[comm.rank]
        self.mean, self.way = np.zeros(own, np.float32), WayBack(topology.back, ((own,),), own, recipe)

    def exchange(self, comm, turn, outer) -> np.ndarray:
        self.mean[:] = 0
        for packet in delivered(comm, [turn.packet.part(a, b) for a, b in pairwise(self.cuts)]):
            packet.add_to(self.mean, 1 / comm.size)
        said = comm.allgather(self.way.say(comm, self.mean, turn.t), self.how)
        turn.mixed[:] = 0
        for packet, (a, b) in zip(said, pairwise(self.cuts), strict=True):
            packet.add_to(turn.mixed[a:b])
        return turn.step(outer)

    def memory(self) -> dict:
        return self.way.memory()

    def restore(self, memory: dict) -> None:
        self.way.restore(memory)
