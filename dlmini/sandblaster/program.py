"""What every rank runs: replicas first, then shards, the coordinator last."""

from __future__ import annotations

from dlmini.comm.errors import RankFailed
from dlmini.sandblaster.coordinator import Coordinator
from dlmini.sandblaster.layout import Layout
from dlmini.sandblaster.replicas import Replica
from dlmini.sandblaster.shards import Shard


def program(comm, task, recipe, before=None):
    """The coordinator returns why it ended early, a shard its slice of the weights, a replica nothing.

    before: memories to resume, those of the shards and then the coordinator's. Replicas have none, so that a run may
    go on with another number of them.
    """
    recipe.check(comm.size)
    group = hasattr(task, "places")  # one network on several ranks: a replica is a group of them
    places = task.places() if group else (range(task.size),)
    layout = Layout(comm.size, recipe.shards, task.size, places)
    portions = recipe.parts(task, comm.size)
    if comm.rank < layout.first_shard:
        return Replica(comm, layout, task.of_rank(comm) if group else task, recipe, portions).live()
    if comm.life:
        raise RankFailed(f"rank {comm.rank} came back, but what it kept is lost", comm.rank, died=True)
    kept = before and before[comm.rank - layout.first_shard]
    if comm.rank == layout.coordinator:
        return Coordinator(comm, layout, recipe, portions).live(kept)
    return Shard(comm, layout, task.initial(recipe.seed), portions).live(kept)
