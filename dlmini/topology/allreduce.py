"""Everybody hears everybody: the mean of all packets."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from dlmini.checks import settle, whole
from dlmini.comm.schedules import Schedule, native, schedule
from dlmini.topology.buckets import Buckets, buckets
from dlmini.topology.graphs import complete
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn


@dataclass(frozen=True)
class AllReduce(Topology):
    """The mean of everybody's packets, on everybody.

        w = start - outer(1/P sum_j packet_j)
    Packets that can be added travel as sums by the schedule `how`: a ring moves 2 (P-1)/P of a packet per worker.
    Others (sparse, quantised with a scale of their own) are gathered whole, P - 1 packets per worker, and added at
    home. All workers hold equal weights, to the bit.
    bucket: numbers. Sums are then made in buckets of at least so many, each as soon as the way back has filled it
    (buckets.py), so that they overlap with it. After local steps, or with a compressor, nothing can be said before the
    end of the round, and all is summed at once.
    """

    word = "allreduce"
    tried = ({}, {"bucket": 20})
    shown = (("everybody (all-reduce)", {}),)
    how: Schedule = native
    bucket: int | None = None

    def __post_init__(self):
        schedule(self.how)
        if self.bucket is not None:
            settle(self, bucket=whole(self.bucket, "bucket", 1, hint="numbers that are summed at once, at least"))

    @property
    def overlaps(self) -> bool:
        return self.bucket is not None

    def matrix(self, size: int, t: int) -> np.ndarray:
        return complete(size)

    def start(self, comm, w, recipe, shapes):
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
