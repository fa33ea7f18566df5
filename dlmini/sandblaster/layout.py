"""Who is who among the ranks, and which part of the vector each one holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

# Tags: what is said to the coordinator, a shard, a replica; what shards answer to either.
REPORT, COMMAND, JOB, ANSWER, FETCHED = 1, 2, 3, 4, 5


@dataclass(frozen=True)
class Layout:
    """Replicas first, then shards, the coordinator last.

    slices: how much of the vector each rank of a replica holds: one rank all of it, or several a part each, end to end.
    A rank talks only to the shards that hold something of its slice.
    """

    ranks: int
    shards: int
    slices: tuple[int, ...]

    @property
    def members(self) -> int:
        """Ranks of one replica."""
        return len(self.slices)

    @property
    def replicas(self) -> int:
        return (self.ranks - self.shards - 1) // self.members

    @property
    def coordinator(self) -> int:
        return self.ranks - 1

    @property
    def first_shard(self) -> int:
        return self.ranks - 1 - self.shards

    @property
    def shard_ranks(self) -> range:
        return range(self.first_shard, self.coordinator)

    def ranks_of(self, replica: int) -> range:
        return range(replica * self.members, (replica + 1) * self.members)

    def replica_of(self, rank: int) -> int:
        return rank // self.members

    def member_of(self, rank: int) -> int:
        return rank % self.members

    @cached_property
    def starts(self) -> tuple[tuple[int, int], ...]:
        """The slice of each member, as [low, high) of the vector."""
        return tuple(pairwise(accumulate(self.slices, initial=0)))

    def bounds(self, shard: int) -> tuple[int, int]:
        """What a shard holds, as [low, high) of the vector."""
        length = sum(self.slices)
        return shard * length // self.shards, (shard + 1) * length // self.shards

    def overlap(self, member: int, shard: int) -> tuple[int, int]:
        """What both hold, as [low, high) of the vector."""
        (a, b), (c, d) = self.starts[member], self.bounds(shard)
        return max(a, c), max(a, c, min(b, d))

    def members_at(self, shard: int) -> tuple[int, ...]:
        """Who of a replica talks to a shard; of an empty shard, its first rank."""
        found = [m for m in range(self.members) if self.overlap(m, shard)[0] < self.overlap(m, shard)[1]]
        return tuple(found) or (0,)

    def shards_at(self, member: int) -> tuple[int, ...]:
        return tuple(shard for shard in range(self.shards) if member in self.members_at(shard))
