"""Everybody serves a part: the optimiser's memory is shared out among the workers."""

from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from math import prod

import numpy as np

from dlmini.checks import refuse, settle, whole
from dlmini.comm.schedules import Schedule, native, schedule
from dlmini.compression.packets import Dense
from dlmini.topology.buckets import Buckets, Folded, buckets
from dlmini.topology.graphs import complete
from dlmini.topology.owners import Owners, delivered
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn


@dataclass(frozen=True)
class Zero(Topology):
    """Each worker steps on its own part of the vector, and shows the others the new weights.

        my part    w_r = start_r - outer(1/P sum_j packet_j)_r        the packets are reduce-scattered
        then all   w = (w_0, w_1, ..., w_P-1)                         the weights are all-gathered
    A parameter server in which every worker serves a part. Any optimiser will do that treats each weight alone: it
    remembers 1/P of what it would. Traffic per worker: 2 (P-1)/P of a packet, as an all-reduce.
        stage 0    the mean gradient is gathered, and everybody steps on everything: plain data parallelism, and
                   in the same order of addition (by a ring, AllReduce adds in another; ARCHITECTURE.md)
        stage 1    as above
        stage 2    also the gradient is never held whole: it is summed away bucket by bucket on the way back, and room
                   is needed for one bucket (a layer, unless `bucket` says more) and one's own part
    Stage 3, where weights too are shared out, is a split of the network: Split(task, Grid(shard=P)) gathers them inside
    a gradient (parallel/sharding.py).
    bucket: numbers; sums then overlap with the way back (buckets.py), and each worker owns a part of every bucket.
    After local steps, or with a compressor, packets are scattered whole at the end of the round (stages 0 and 1).
    Rajbhandari et al., ZeRO: memory optimizations toward training trillion parameter models, 2020.
    """

    word = "zero"
    tried = ({}, {"stage": 2}, {"stage": 1, "bucket": 20})
    shown = (("everybody serves a part (ZeRO 1)", {}), ("and drops gradients (ZeRO 2)", {"stage": 2}))
    stage: int = 1
    how: Schedule = native
    bucket: int | None = None

    def __post_init__(self):
        hint = "what workers share out; 3 is a split of the network: Split(task, Grid(shard=...))"
        settle(self, stage=whole(self.stage, "stage", 0, 2, hint=hint))
        if schedule(self.how) is not native and not hasattr(self.how, "reduce_scatter"):
            refuse(ValueError, "how", self.how, "a schedule with halves: ring, halving_doubling or Hierarchical(g)")
        if self.bucket is not None:
            settle(self, bucket=whole(self.bucket, "bucket", 1, hint="numbers that are summed at once, at least"))

    @property
    def overlaps(self) -> bool:
        return self.bucket is not None or self.stage == 2

    @property
    def folds(self) -> bool:
        return self.stage == 2

    @property
    def mixes(self) -> bool:
        return self.stage == 0

    @property
    def by_layer(self) -> bool:
        return self.stage > 0

    def matrix(self, size: int, t: int) -> np.ndarray:
        return complete(size, t)

    def owners(self, shapes, workers: int) -> Owners:
        size = sum(map(prod, shapes))
        return Owners(buckets(shapes, self.bucket or 1) if self.overlaps else [(0, size)], workers)

    def stepped(self, shapes, rank: int, workers: int) -> int:
        return sum(map(prod, shapes)) if self.stage == 0 else self.owners(shapes, workers).size(rank)

    def start(self, comm, w, recipe, shapes):
        owners = self.owners(shapes, comm.size)
        grad = None if not recipe.overlaps else Folded(owners.edges) if self.folds else np.zeros_like(w)
        return Serving(self, comm, owners, grad)


class Serving(Buckets):
    """One worker: its parts of the mean and of the weights, end to end, and where in the vector they belong."""

    def __init__(self, zero: Zero, comm, owners: Owners, grad):
        post = partial(comm.reduce_scatter, how=zero.how, wait=False)
        super().__init__(comm, owners.edges, post, grad)
        self.zero, self.owners, self.parts = zero, owners, owners.parts(comm.rank)
        ends = accumulate((part.stop - part.start for part in self.parts), initial=0)
        self.places = [slice(a, b) for a, b in pairwise(ends)]
        self.mean, self.w = (np.zeros(owners.size(comm.rank), np.float32) for _ in range(2))

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        self.hear(comm, turn)
        if self.zero.stage == 0:
            self.gather(comm, self.mean, turn.mixed)
            return turn.step(outer)
        for part, place in zip(self.parts, self.places, strict=True):
            self.w[place] = turn.start[part]
        outer.apply(self.w, self.mean)
        self.gather(comm, self.w, turn.w)
        return turn.w

    def hear(self, comm, turn: Turn) -> None:
        """My parts of the mean of what all said."""
        self.mean[:] = 0
        for place, packets in zip(self.places, self.heard(comm, turn), strict=True):
            for packet in packets:
                packet.add_to(self.mean[place], 1 / comm.size)

    def heard(self, comm, turn: Turn):
        """Bucket by bucket what is to be added up there: one sum or, where packets cannot be added, all packets."""
        if turn.packet is self or (turn.summable and turn.packet.summand.size == turn.w.size):
            for part, (_, _, total) in zip(self.parts, self.sums(turn), strict=True):
                yield [Dense(total) if turn.packet is self else turn.packet.part(part.start, part.stop).replaced(total)]
        else:
            for cuts in self.owners.cuts:
                yield delivered(comm, [turn.packet.part(a, b) for a, b in pairwise(cuts)])

    def gather(self, comm, mine: np.ndarray, out: np.ndarray) -> None:
        """Everybody's parts into the whole vector, bucket by bucket."""
        for (low, high), place in zip(self.edges, self.places, strict=True):
            np.concatenate(comm.allgather(mine[place], self.zero.how), out=out[low:high])
