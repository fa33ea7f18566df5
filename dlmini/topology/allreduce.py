"""Everybody hears everybody: the mean of all packets."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from dlmini.checks import refuse, settle, whole
from dlmini.comm.schedules import Schedule, native, schedule
from dlmini.topology.buckets import Buckets, buckets
from dlmini.topology.graphs import complete
from dlmini.topology.owners import BothWays, Owners, checked_back, wants_memory
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn


@dataclass(frozen=True)
class AllReduce(Topology):
    """The mean of everybody's packets, on everybody.

        w = start - outer(1/P sum_j packet_j)
    Packets that can be added travel as sums by the schedule `how`: a ring moves 2 (P-1)/P of a packet per worker.
    Others (sparse, quantised with a scale of their own) are gathered whole, P - 1 packets per worker, and added at
    home. All workers hold equal weights, to the bit.
    back: a compressor. Then nothing is gathered whole. Every worker owns a part of the vector: to it all send their
    parts of their packets; it adds them up, and says the mean of its part back, compressed once more:
        at the owner   p = unsaid + 1/P sum_j packet_j;   all get C(p);   unsaid = p - C(p)
        on everybody   w = start - outer(C(p_0), C(p_1), ..., C(p_P-1))
    What is unsaid on the way there is remembered by each worker, on the way back by each owner (if the recipe's
    feedback says so). Traffic per worker: (P-1)/P of a packet there and (P-1)/P of one back, whatever P is, where
    gathering takes P - 1. Latencies: 2 (P-1). The error of two roundings in the place of one.
    Tang et al., 1-bit Adam, 2021 (its compressed all-reduce); Tang et al., DoubleSqueeze, 2019 (memory on both ways).
    bucket: numbers. Sums are then made in buckets of at least so many, each as soon as the way back has filled it
    (buckets.py), so that they overlap with it. After local steps, or with a compressor, nothing can be said before the
    end of the round, and all is summed at once.
    """

    word = "allreduce"
    tried = ({}, {"bucket": 20})
    shown = (("everybody (all-reduce)", {}),)
    how: Schedule = native
    bucket: int | None = None
    back: object = None

    def __post_init__(self):
        schedule(self.how)
        if checked_back(self.back, "the owner of a part") is not None:
            self._check_back()
        if self.bucket is not None:
            settle(self, bucket=whole(self.bucket, "bucket", 1, hint="numbers that are summed at once, at least"))

    def _check_back(self) -> None:
        if self.bucket is not None:
            raise ValueError(
                f"bucket={self.bucket} sums whole numbers, and back={self.back!r} none; leave one of them out"
            )
        if self.how is not native and not hasattr(self.how, "allgather"):
            refuse(ValueError, "how", self.how, "a schedule that gathers: ring, halving_doubling or Hierarchical(g)")

    @property
    def by_layer(self) -> bool:
        return self.back is not None

    @property
    def everywhere_alike(self) -> bool:
        return self.back is None or self.back.everywhere_alike

    @property
    def overlaps(self) -> bool:
        return self.bucket is not None

    def matrix(self, size: int, t: int) -> np.ndarray:
        return complete(size, t)

    def kept(self, shapes, rank: int, workers: int, recipe) -> int:
        if self.back is None:
            return 0
        own = Owners([(0, self.stepped(shapes, rank, workers))], workers).size(rank)
        return (2 if wants_memory(self.back, recipe) else 1) * own

    def start(self, comm, w, recipe, shapes):
        if self.back is not None:
            return BothWays(self, comm, w.size, recipe)
        return Overlapping(self, comm, w, shapes) if recipe.overlaps else self

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        turn.mixed[:] = 0
        if turn.summable:
            turn.packet.replaced(comm.allreduce(turn.packet.summand, self.how)).add_to(turn.mixed, 1 / comm.size)
        else:
            for packet in comm.allgather(turn.packet):
                packet.add_to(turn.mixed, 1 / comm.size)
        return turn.step(outer)


class Overlapping(Buckets):
    """One worker of an all-reduce in buckets."""

    def __init__(self, topology: AllReduce, comm, w: np.ndarray, shapes):
        post = partial(comm.allreduce, how=topology.how, wait=False)
        super().__init__(comm, buckets(shapes, topology.bucket), post, np.zeros_like(w))

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        for low, high, total in self.sums(turn):
            np.multiply(total, np.float32(1 / comm.size), out=turn.mixed[low:high])
        return turn.step(outer)
