"""Everybody hears everybody: the mean of all packets."""

from dataclasses import dataclass

import numpy as np

from dlmini.comm.schedules import Schedule, native, schedule
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
    """

    word = "allreduce"
    shown = (("everybody (all-reduce)", {}),)
    how: Schedule = native

    def __post_init__(self):
        schedule(self.how)

    def matrix(self, size: int, t: int) -> np.ndarray:
        return complete(size)

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        turn.mixed[:] = 0
        if turn.summable:
            turn.packet.replaced(comm.allreduce(turn.packet.summand, self.how)).add_to(turn.mixed, 1 / comm.size)
        else:
            for packet in comm.allgather(turn.packet):
                packet.add_to(turn.mixed, 1 / comm.size)
        return turn.step(outer)
