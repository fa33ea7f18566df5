"""The meter: which bytes a rank holds while it trains, counted without training.

    weights        its slice; weights that are gathered (ZeRO 3) and those of batches under way (PipeDream) besides
    gradients      where they are written, and a second micro-batch's, which is added to them
    optimiser      what inner and outer optimiser remember
    exchange       room for what is said and heard: a mixture, the round's start, what was not said
    activations    all that passes keep for their way back, and the slopes on it: a pass for each micro-batch in flight
    data           the rows of the training set that this rank reads, as they are stored
Weights, gradients and optimiser are counted to the byte. Activations are those of `Pass`, laid out here without memory
behind it. Not counted: the scratch space of kernels, what compressors and topologies with memories of their own (Choco,
LowRank) keep, what a server stages; and messages under way, since when they are taken is a matter of time, not of the
plan. At most there are, across a border between stages, as many micro-batches as the rank before it has in flight
(`in_flight`: each of them is there, here, or on its way), and of owners (ZeRO 3) two buckets: one that comes, one that
is being summed.
With Psi weights on N ranks and K vectors remembered (Adam: 2) in float32, bytes beside activations are
    data parallel  4 (2 + K) Psi           ZeRO 1  4 (2 + K/N) Psi
    ZeRO 2         4 (1 + (1 + K)/N) Psi   ZeRO 3  4 (2 + K) Psi / N
and room for buckets and for what is exchanged. Rajbhandari et al., ZeRO, 2020, count 16-bit weights and gradients
beside 32-bit masters: 16 Psi.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import prod

import numpy as np

from dlmini.checks import piece, whole
from dlmini.parallel.grid import Grid
from dlmini.parallel.pipeline import PipeDream
from dlmini.parallel.split import Split

FLOAT = 4  # bytes of a number that an optimiser remembers


@dataclass(frozen=True)
class RankMemory:
    """Bytes on one rank, by what they are for."""

    weights: int = 0
    gradients: int = 0
    optimiser: int = 0
    exchange: int = 0
    activations: int = 0
    data: int = 0

    @property
    def total(self) -> int:
        """All but the data."""
        return sum(getattr(self, one.name) for one in fields(self)) - self.data

    def __str__(self) -> str:
        parts = ", ".join(f"{one.name} {getattr(self, one.name) / 1e6:.3g}" for one in fields(self))
        return f"{self.total / 1e6:.3g} MB: {parts}"


def meter(task, recipe, ranks: int) -> tuple[RankMemory, ...]:
    """What each of `ranks` ranks holds when it trains a task, or a Split of it, by a recipe."""
    ranks = whole(ranks, "ranks", 1)
    piece(task, "task", ("model", "batches", "shapes"), "a task with a model, or a Split of it")
    piece(recipe, "recipe", ("sync", "topology", "steppers"), "a Recipe(...)")
    if hasattr(task, "grid"):
        task.check(recipe)
        recipe.check(task.peers(ranks))
        return tuple(of_rank(task, recipe, rank, None) for rank in range(ranks))
    recipe.check(ranks)
    split = Split(task, Grid(data=ranks), micro_batches=1)
    return tuple(of_rank(split, recipe, rank, task.shapes) for rank in range(ranks))


def of_rank(split: Split, recipe, rank: int, shapes) -> RankMemory:
    """shapes: of the arrays of a network that was not split."""
    place, own, workers = split.grid.place(rank), split.own_size(rank), recipe.workers(split.grid.data)
    if place.data >= workers:
        return of_server(split, recipe, own, place.data - workers)
    if shapes is None:
        shapes, whole_gradient = tuple(s for part in split.parts(rank) for layer in part.parts for s in layer), True
    else:
        whole_gradient = False
    item = split.model.dtype.itemsize
    return RankMemory(
        weights=item * (own + gathered(split, rank) + stashed(split, place.pipe) * own),
        gradients=item * (written(recipe, shapes, workers, whole_gradient) + added(split, own) + gathered(split, rank)),
        optimiser=FLOAT * remembered(recipe, shapes, place.data, workers),
        exchange=item * exchanged(recipe, shapes, own, place.data, workers),
        activations=activations(split, rank),
        data=rows(split, workers),
    )


def of_server(split: Split, recipe, own: int, number: int) -> RankMemory:
    low, high = recipe.topology.shards(own)[number]
    kept = len(recipe.optimizers()[1].remembers)
    return RankMemory(weights=split.model.dtype.itemsize * (high - low), optimiser=FLOAT * kept * (high - low))


def gathered(split: Split, rank: int) -> int:
    """Numbers of the largest bucket, for which owners keep room."""
    return max(part.part.size for part in split.parts(rank)) if split.grid.shard > 1 else 0


def stashed(split: Split, pipe: int) -> int:
    """Versions of its weights that a stage keeps for batches under way."""
    behind = split.grid.pipe - pipe - 1
    return behind + 1 if isinstance(split.schedule, PipeDream) and behind else 0


def written(recipe, shapes, workers: int, whole_gradient: bool) -> int:
    """Numbers of the gradient: all, or a bucket at a time, where whoever computes it can leave it in buckets."""
    numbers = sum(map(prod, shapes))
    if not (recipe.overlaps and recipe.topology.folds):
        return numbers
    bucket = max(high - low for low, high in recipe.topology.owners(shapes, workers).edges)
    return bucket + (numbers if whole_gradient else 0)


def added(split: Split, own: int) -> int:
    """Room for the gradient of one micro-batch more."""
    several = split.micro_batches > 1 or split.schedule.plan(split.grid.pipe, split.micro_batches).split
    return own if several and split.grid.shard == 1 else 0


def remembered(recipe, shapes, worker: int, workers: int) -> int:
    inner, outer = recipe.optimizers()
    alone = sum(map(prod, shapes)) if recipe.sync.local else 0
    return len(inner.remembers) * alone + len(outer.remembers) * recipe.topology.stepped(shapes, worker, workers)


def exchanged(recipe, shapes, own: int, worker: int, workers: int) -> int:
    local = recipe.sync.local
    vectors = 3 * local + recipe.remembers_unsaid + recipe.sync.late + recipe.topology.mixes  # start, update, a step
    served = recipe.topology.owners(shapes, workers).size(worker) if hasattr(recipe.topology, "owners") else 0
    kept = recipe.topology.kept(shapes, worker, workers, recipe)
    return own * vectors + kept + 2 * served  # its part of the mean, and of the weights


def rows(split: Split, workers: int) -> int:
    """Bytes of the training set, dealt out to replicas; every rank of one reads all its rows, every owner its own."""
    x = getattr(split.task.train, "x", None)
    return 0 if x is None else x.nbytes // (workers * split.grid.shard)


def activations(split: Split, rank: int) -> int:
    images, pipe = -(-split.task.batch // split.micro_batches), split.grid.place(rank).pipe
    if split.grid.shard > 1:
        return sum(pass_bytes(shard.part, images) for shard in split.parts(rank))
    parts, timetable = split.parts(rank), split.schedule.plan(split.grid.pipe, split.micro_batches)
    if isinstance(split.schedule, PipeDream):
        passes = split.grid.pipe - pipe
        copies = images * prod(parts[0].input) * split.model.dtype.itemsize if pipe == 0 and passes > 1 else 0
        return passes * (pass_bytes(parts[0], images) + copies)
    return sum(
        of_chunk(timetable, c).in_flight(pipe) * pass_bytes(part, images, timetable.split)
        for c, part in enumerate(parts)
    )


def of_chunk(timetable, chunk: int):
    """The jobs of one chunk: its passes are its own."""
    rows = tuple(tuple(job for job in row if job.chunk == chunk) for row in timetable.rows)
    return replace(timetable, rows=rows)


def pass_bytes(part, images: int, defer: bool = False) -> int:
    """Bytes of one pass: it is laid out in arrays that have a shape, and one number of memory."""
    one, spare, found = part.enter(defer), 0, []
    if part.kernels == "numba":
        from dlmini.nn.kernels.memory import LINE

        spare = 2 * LINE

    def counted(*shape, dtype=None):
        dtype = np.dtype(dtype or part.dtype)
        found.append(prod(shape) * dtype.itemsize + spare)
        return np.broadcast_to(dtype.type(0), shape)

    one.zeros = counted
    one.lay_out(images)
    return sum(found)
