"""Who is who among the ranks, and which numbers of the vector each one holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

# Tags: what is said to the coordinator, a shard, a replica; what shards answer to either.
REPORT, COMMAND, JOB, ANSWER, FETCHED = 1, 2, 3, 4, 5


class Common(NamedTuple):
    """Numbers that a rank of a replica and a shard both hold: where they lie in the one's vector and in the other's."""

    member: slice | np.ndarray
    shard: slice | np.ndarray


@dataclass(frozen=True, eq=False)
class Layout:
    """Replicas first, then shards, the coordinator last.

    places: of each rank of a replica, where in the vector its numbers lie. One rank holds all of them, `range(length)`;
    of a group each some, in any order, and several may hold the same. A rank talks only to the shards that hold
    something of its own.
    """

    ranks: int
    shards: int
    length: int
    places: tuple[Sequence[int], ...]

    @property
    def members(self) -> int:
        """Ranks of one replica."""
        return len(self.places)

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

    def bounds(self, shard: int) -> tuple[int, int]:
        """What a shard holds, as [low, high) of the vector."""
        return shard * self.length // self.shards, (shard + 1) * self.length // self.shards

    @cached_property
    def commons(self) -> dict[tuple[int, int], Common]:
        """(member, shard) -> what both hold, if they do; of a shard that holds nothing, the first rank: nothing."""
        found = {}
        for shard in range(self.shards):
            for member, places in enumerate(self.places):
                common = shared(places, *self.bounds(shard))
                if common is not None:
                    found[member, shard] = common
            if not any((member, shard) in found for member in range(self.members)):
                found[0, shard] = Common(slice(0, 0), slice(0, 0))
        return found

    def members_at(self, shard: int) -> tuple[int, ...]:
        """Who of a replica talks to a shard."""
        return tuple(member for member in range(self.members) if (member, shard) in self.commons)

    def shards_at(self, member: int) -> tuple[int, ...]:
        return tuple(shard for shard in range(self.shards) if (member, shard) in self.commons)


def shared(places: Sequence[int], low: int, high: int) -> Common | None:
    """Which of the numbers at these places lie in [low, high): slices where they lie side by side."""
    if isinstance(places, range):
        a, b = max(places.start, low), min(places.stop, high)
        return Common(slice(a - places.start, b - places.start), slice(a - low, b - low)) if a < b else None
    mine = np.flatnonzero((places >= low) & (places < high))
    return Common(run(mine), run(places[mine] - low)) if mine.size else None


def run(numbers: np.ndarray) -> slice | np.ndarray:
    """As a slice, if each is one more than the one before."""
    if numbers[-1] - numbers[0] == len(numbers) - 1 and (np.diff(numbers) == 1).all():
        return slice(int(numbers[0]), int(numbers[-1]) + 1)
    return numbers
