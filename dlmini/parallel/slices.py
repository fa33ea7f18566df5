"""Slices of one vector, made whole: what a run shows and keeps does not depend on how its network was split.

Ranks of a replica show the slices that they hold. Whoever hears them (the run, in the parent process) puts them
together, so a look at the test set sees whole weights, and a checkpoint is the one that ordinary ranks, as many as the
grid has replicas, would have made: it can be resumed by those, and by any other grid of as many replicas.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dlmini.events import Checkpoint, Snapshot

Memory = dict[str, np.ndarray]


class Assembly:
    """Gathers the slices of each round; gives the whole when the last has come."""

    def __init__(self, split, recipe):
        self.split, self.recipe, self.workers = split, recipe, recipe.workers(split.grid.data)
        self.waiting: dict[tuple, dict[int, Snapshot | Checkpoint]] = {}

    def hear(self, event: Snapshot | Checkpoint) -> list[Snapshot | Checkpoint]:
        """What has become whole by this slice: nothing, an event, or the checkpoints of all servers."""
        data = self.split.grid.place(event.rank).data
        serves = data >= self.workers
        key = type(event), event.t, self.workers if serves else data
        parts = self.waiting.setdefault(key, {})
        parts[event.rank] = event
        if len(parts) < self.split.grid.replica * (self.recipe.topology.servers if serves else 1):
            return []
        del self.waiting[key]
        if isinstance(event, Snapshot):
            slices = {rank: {"w": part.weights} for rank, part in parts.items()}
            return [replace(event, rank=data, weights=whole(self.split, slices)["w"])]
        memories = {rank: part.memory for rank, part in parts.items()}
        if not serves:
            return [replace(event, rank=data, memory=whole(self.split, memories))]
        found = whole(self.split, self.unserved(memories))
        return [
            replace(event, rank=self.workers + k, memory=cut(found, self.split.size, *edges))
            for k, edges in enumerate(self.recipe.topology.shards(self.split.size))
        ]

    def unserved(self, memories: dict[int, Memory]) -> dict[int, Memory]:
        """Servers of one slice, each with a shard of it, as one that keeps all of it."""
        first = range(self.split.grid.rank(self.workers), self.split.grid.rank(self.workers + 1))
        group = {rank: self.split.grid.data_group(rank)[self.workers :] for rank in first}
        return {rank: joined([memories[server] for server in servers]) for rank, servers in group.items()}


def whole(split, memories: dict[int, Memory]) -> Memory:
    """One memory of those of the ranks of a replica: slices of vectors side by side; what is no vector, the first's."""
    first, found = memories[min(memories)], {}
    for name, array in first.items():
        if all(is_vector(memory[name], split.own_size(rank)) for rank, memory in memories.items()):
            found[name] = np.empty((*array.shape[:-1], split.size), array.dtype)
            for rank, memory in memories.items():
                split.paste(rank, memory[name], found[name])
        else:
            found[name] = array
    return found


def joined(shards: list[Memory]) -> Memory:
    """Memories of servers that keep shards of one vector, as of one that keeps all of it."""
    sizes = [shard["w"].size for shard in shards]
    return {
        name: np.concatenate([shard[name] for shard in shards], axis=-1)
        if all(is_vector(shard[name], size) for shard, size in zip(shards, sizes, strict=True))
        else array
        for name, array in shards[0].items()
    }


def cut(memory: Memory, size: int, low: int, high: int) -> Memory:
    """What a server of numbers [low, high) remembers, of what one of all `size` numbers would."""
    return {name: array[..., low:high] if is_vector(array, size) else array for name, array in memory.items()}


def own_memory(split, rank: int, before: list[Memory], recipe) -> Memory:
    """A rank's part of a checkpoint of whole vectors."""
    data, workers = split.grid.place(rank).data, recipe.workers(split.grid.data)
    memory = before[data] if data < workers else joined(before[workers:])
    own = {name: split.cut(rank, array) if is_vector(array, split.size) else array for name, array in memory.items()}
    if data < workers:
        return own
    return cut(own, split.own_size(rank), *recipe.topology.shards(split.own_size(rank))[data - workers])


def is_vector(array: np.ndarray, size: int) -> bool:
    """One number for each weight, or several rows of such."""
    return array.ndim > 0 and array.shape[-1] == size
