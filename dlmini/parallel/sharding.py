"""ZeRO 3: everything that a replica remembers is shared out, weights too; they are gathered where they are used.

    there    for each bucket of layers: gather its weights, pass the batch through, drop them
    back     for each bucket, from the last: gather them again, go back, and scatter the sum of its gradients
Every rank of the replica has a batch of its own, and of each bucket it owns a part: of the weights, of the mean
gradient, and of what the optimiser remembers. A recipe sees data-parallel training whose vectors are N times shorter.

    kept on each rank    (weights + gradient + the optimiser's vectors) / N, and room for a bucket: weights that are in
                         use, weights that are coming, a gradient that is written and one that is being summed
    sent by each rank    3 (N-1)/N of the vector: half as much again as an all-reduce
The next bucket is asked for while one is in use, and its gradient is summed beside the way back of the one before it.
Rajbhandari et al., ZeRO: memory optimizations toward training trillion parameter models, 2020 (there: stage 3).
"""

from __future__ import annotations

from itertools import accumulate, islice, zip_longest
from math import prod

import numpy as np

from dlmini.comm.schedules import cut
from dlmini.nn.shapes import Shapes
from dlmini.parallel.rank_task import RankTask
from dlmini.topology.buckets import buckets


def gathered_together(model, least: int) -> tuple[int, ...]:
    """The layers that buckets 1, 2, ... begin with; layers without weights go with those before them."""
    starts = accumulate((sum(map(prod, part)) for part in model.parts), initial=0)
    first = {start: i for i, (start, part) in enumerate(zip(starts, model.parts, strict=False)) if part}
    return tuple(sorted(first[low] for low, _ in buckets(Shapes.of(model.parts), least) if low))


class Shard:
    """A rank's part of one bucket: numbers [r n // N, (r + 1) n // N) of its n."""

    def __init__(self, part, rank: int, ranks: int):
        self.part, self.low, self.high = part, part.low, part.high
        self.mine = slice(*cut(part.size, ranks)[rank : rank + 2].tolist())
        self.size = self.mine.stop - self.mine.start
        self.parts = [((self.size,),)]

    def initial(self, seed: int = 0) -> np.ndarray:
        """As the whole begins; no more than this bucket of it is ever made."""
        return self.cut(self.part.initial(seed)).copy()

    def cut(self, whole: np.ndarray) -> np.ndarray:
        return whole[..., self.mine]

    def paste(self, own: np.ndarray, whole: np.ndarray) -> None:
        whole[..., self.mine] = own


class Sharded(RankTask):
    """What one owner learns: its parts of all buckets, end to end, from a batch of its own."""

    def __init__(self, split, world, rank: int, calls: int):
        self.split, self.task, self.place = split, split.task, split.grid.place(rank).shard
        ranks = split.grid.shard_group(rank)
        self.owners = world if len(ranks) == world.size else world.group(ranks)
        self.hold(split.parts(rank))
        self.passes = [shard.part.enter() for shard in self.parts]
        sizes, dtype = [shard.part.size for shard in self.parts], split.model.dtype
        rooms = [np.zeros(max(sizes), dtype) for _ in range(2)]
        self.weights, self.slopes = ([room[:size] for size in sizes] for room in rooms)

    def batches(self, shard: int, of: int, seed: int, skip: int = 0):
        """Owners see different rows, as workers of plain data parallelism do."""
        owners = self.owners.size
        return self.task.batches(shard * owners + self.place, of * owners, seed, skip)

    def played(self, w: np.ndarray, batch, grad: np.ndarray) -> float:
        steps = self.gathered(self.slices("w", w))
        y = batch.x
        for i, weights in islice(steps, len(self.parts)):
            y = self.owners.compute("forward", self.forward, i, weights, y, batch.key, flops=self.work(i, batch))
        last, images = self.passes[-1], len(batch.y)
        loss, dy, summed = last.model.loss(last.ops, y, batch.y, last.slope, images), None, None
        for i, weights in steps:
            back, flops = self.passes[i].backward, 2 * self.work(i, batch)
            dy = self.owners.compute("backward", back, weights, self.slopes[i], dy, flops=flops)
            self.hear(summed, grad)
            summed = i, self.owners.reduce_scatter(self.slopes[i], self.split.how, wait=False)
        self.hear(summed, grad)
        return self.checked(loss, batch)

    def gathered(self, mine: list[np.ndarray]):
        """(number, weights) of every bucket, there and back; the one behind it is asked for before it is used."""
        there = range(len(self.parts))
        order = [*there, *reversed(there)]
        coming = self.ask(mine[0])
        for i, after in zip_longest(order, order[1:]):
            np.concatenate(coming.wait(), out=self.weights[i])
            coming = None if after is None else self.ask(mine[after])
            yield i, self.weights[i]

    def ask(self, mine: np.ndarray):
        return self.owners.allgather(mine, self.split.how, wait=False)

    def forward(self, i: int, weights: np.ndarray, x: np.ndarray, key) -> np.ndarray:
        return self.passes[i].forward(weights, x, self.parts[i].part.mode(key))

    def hear(self, summed, grad: np.ndarray) -> None:
        """My part of a bucket's mean gradient."""
        if summed is not None:
            i, total = summed
            mine = self.slices("grad", grad)[i]
            np.multiply(total.wait(), grad.dtype.type(1 / self.owners.size), out=mine)

    def work(self, i: int, batch) -> float:
        return float(self.parts[i].part.flops) * len(batch.y)
