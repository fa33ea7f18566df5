"""What one rank of a split task learns: its own slice of the vector, by its row of the pipeline's timetable."""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, pairwise

import numpy as np

from dlmini.parallel.pipeline import GPipe, play
from dlmini.parallel.stage import LiveStage
from dlmini.parallel.timetable import Timetable

LOSS = 2**31 - 1  # the tag of what the last stage tells the others


@lru_cache(maxsize=256)
def planned(schedule, ranks: int, micros: int, usual: int) -> Timetable:
    """The timetable of a batch.

    Interleaved stages are particular about the number of micro-batches: where a batch has too few rows for all of them,
    those that it has go all there and all back, which any number may, and adds up gradients in the same order.
    """
    return (GPipe(schedule.chunks) if schedule.chunks > 1 and micros != usual else schedule).plan(ranks, micros)


class RankTask:
    """What one rank learns: the slice of the vector that belongs to its stages. The worker's loop runs it as any task.

    Local work is charged job by job ("forward", "backward", "weights"), so a gradient costs nothing more.
    """

    flops = 0.0
    part = property(lambda self: self.task.part)

    def __init__(self, split, world, rank: int, calls: int):
        self.split, self.task = split, split.task
        self.hold(split.parts(rank, world))
        self.pipe = world.group(split.grid.pipe_group(rank))
        timetable = split.schedule.plan(split.grid.pipe, split.micro_batches)
        self.stages = [LiveStage(part, timetable.split) for part in self.parts]

    def hold(self, parts) -> None:
        """The slice is made of the vectors of these, end to end."""
        self.parts = parts
        self.edges = list(pairwise(accumulate((part.size for part in parts), initial=0)))
        self.size, self.known, self.whole = self.edges[-1][1], {}, None
        self.shapes = tuple(shape for part in parts for layer in part.parts for shape in layer)

    def initial(self, seed: int = 0) -> np.ndarray:
        """As the whole network begins, without making all of it."""
        return np.concatenate([part.initial(seed) for part in self.parts])

    def batches(self, shard: int, of: int, seed: int, skip: int = 0):
        """All ranks of a replica see the same rows."""
        return self.task.batches(shard, of, seed, skip)

    def slices(self, name: str, vector: np.ndarray) -> list[np.ndarray]:
        """The vector's part of each stage: the same objects as long as the vector is the same."""
        if self.known.get(name, (None,))[0] is not vector:
            self.known[name] = vector, [vector[low:high] for low, high in self.edges]
        return self.known[name][1]

    def loss_and_grad(self, w: np.ndarray, batch, grad, ready=None) -> float:
        """ready: as of any task; but nothing is final before the last micro-batch has come back."""
        whole = grad if isinstance(grad, np.ndarray) else self.room(w)
        loss = self.played(w, batch, whole)
        for low, high in [] if ready is None else [(0, self.size)] if whole is grad else grad.edges:
            if whole is not grad:  # of which one bucket exists at a time (topology/buckets.py)
                grad[low:high][...] = whole[low:high]
            ready(low, 1.0)
        return loss

    def room(self, w: np.ndarray) -> np.ndarray:
        if self.whole is None:
            self.whole = np.zeros_like(w)
        return self.whole

    def played(self, w: np.ndarray, batch, grad: np.ndarray) -> float:
        split, images = self.split, len(batch.y)
        micros = min(split.micro_batches, images)
        cuts = [images * i // micros for i in range(micros + 1)]
        for stage, mine, slope in zip(self.stages, self.slices("w", w), self.slices("grad", grad), strict=True):
            stage.begin(mine, slope, batch, cuts)
        play(self.pipe, planned(split.schedule, split.grid.pipe, micros, split.micro_batches), self.stages)
        return self.checked(self.shared(self.stages[-1].loss), batch)

    def shared(self, loss: float) -> float:
        """The last stage knows the loss; by the time that others have gone back, its message has long come."""
        last = self.pipe.size - 1
        if self.pipe.rank < last:
            return self.pipe.recv(last, LOSS)
        for rank in range(last):
            self.pipe.send(rank, loss, LOSS)
        return loss

    def checked(self, loss: float, batch) -> float:
        if np.isfinite(loss):
            return loss
        raise FloatingPointError(f"worker {batch.key[1]}: the loss became {loss}; lower the learning rate")
