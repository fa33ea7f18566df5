"""Who does what when one network is on several ranks: a grid of data x pipe x tensor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dlmini.checks import settle, whole

HINTS = {
    "data": "replicas",
    "pipe": "stages",
    "tensor": "ranks that share a layer",
    "shard": "ranks that share out a network's numbers",
}


class Place(NamedTuple):
    """Where a rank stands in its grid."""

    data: int
    pipe: int
    tensor: int
    shard: int = 0


@dataclass(frozen=True, repr=False)
class Grid:
    """`data` replicas of the network, each cut into `pipe` stages of layers, each stage's layers among `tensor` ranks.

        rank = (d pipe + s) tensor + t
    Ranks of one replica share a batch; ranks of one stage and tensor place, one in each replica, hold the same part of
    the weights and exchange what they learn: their number is what a recipe calls its ranks. Where a topology has
    servers, the last replicas serve: each of their ranks serves the part that stands at its place.
    shard: instead of stages and shared layers; the ranks of a replica share out its numbers, and each has a batch of
    its own (ZeRO 3, sharding.py): rank = d shard + z.
    Shoeybi et al., Megatron-LM, 2019; the P_r x P_c grids of Gholami et al., 2018, are Grid(data=P_c, tensor=P_r).
    """

    data: int = 1
    pipe: int = 1
    tensor: int = 1
    shard: int = 1

    def __post_init__(self):
        for name, hint in HINTS.items():
            settle(self, **{name: whole(getattr(self, name), name, 1, hint=hint)})
        if self.shard > 1 and self.pipe * self.tensor > 1:
            raise ValueError(
                f"shard={self.shard} with {self.pipe} stages and layers shared by {self.tensor}: numbers are shared "
                "out of whole networks only; leave shard out, and share out what stages remember by Zero(1) or Zero(2)"
            )

    @property
    def size(self) -> int:
        """Ranks in all."""
        return self.data * self.replica

    @property
    def replica(self) -> int:
        """Ranks of one replica."""
        return self.pipe * self.tensor * self.shard

    def place(self, rank: int) -> Place:
        rank = whole(rank, "rank", 0, self.size - 1)
        inside = rank % self.replica
        if self.shard > 1:
            return Place(rank // self.replica, 0, 0, inside)
        return Place(rank // self.replica, inside // self.tensor, inside % self.tensor)

    def rank(self, data: int, pipe: int = 0, tensor: int = 0, shard: int = 0) -> int:
        return data * self.replica + pipe * self.tensor + tensor + shard

    def data_group(self, rank: int) -> list[int]:
        """Who holds the same part of the weights: one rank of each replica."""
        return [self.rank(d, *self.place(rank)[1:]) for d in range(self.data)]

    def pipe_group(self, rank: int) -> list[int]:
        """Who passes a micro-batch on: one rank of each stage."""
        d, _, t, _ = self.place(rank)
        return [self.rank(d, s, t) for s in range(self.pipe)]

    def tensor_group(self, rank: int) -> list[int]:
        """Who shares each layer."""
        d, s, _, _ = self.place(rank)
        return [self.rank(d, s, t) for t in range(self.tensor)]

    def shard_group(self, rank: int) -> list[int]:
        """Who shares out one replica's numbers."""
        d = self.place(rank).data
        return [self.rank(d, shard=z) for z in range(self.shard)]

    def say(self, rank: int) -> str:
        """For people: where a rank stands."""
        d, s, t, z = self.place(rank)
        if self.shard > 1:
            return f"owner {z} of {self.shard} in replica {d} of {self.data}"
        shares = f", part {t} of {self.tensor} of its layers" if self.tensor > 1 else ""
        return f"stage {s} of {self.pipe}{shares} in replica {d} of {self.data}"

    def __repr__(self) -> str:
        if self.shard > 1:
            return f"Grid(data={self.data}, shard={self.shard})"
        return f"Grid(data={self.data}, pipe={self.pipe}, tensor={self.tensor})"
