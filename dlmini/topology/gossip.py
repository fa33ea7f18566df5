"""Talk to a few: each worker mixes with its neighbours of the round, and news spreads hop by hop."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dlmini.checks import word
from dlmini.compression.packets import Dense
from dlmini.topology.graphs import drifts_apart, graph_of, heard, least_pull, matrix_of
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn

WHAT = ("updates", "weights")


@dataclass(frozen=True)
class Gossip(Topology):
    """Mix with neighbours by a matrix K (see graphs.py).

        updates   w_i = start_i - outer(sum_j K_ij packet_j)                 (Tolstobrov 2022, Algorithms 2 and 3)
        weights   w_i = sum_j K_ij (start_j - outer(packet_j))               (D-PSGD, Lian et al. 2017)
    Mixing weights pulls workers together; mixing updates does not, it only makes them move alike.
    Cost: as many packets as K has entries beside the diagonal in a column, sent onward from one's own rank, so that on
    a switch no two meet at a port (`onward` in graphs.py). Nobody waits for those it does not mix with.
    A worker that dies is missed by its neighbours alone: each counts its own packet, or weights, in the other's place
    (`without` in graphs.py).
    """

    word = "gossip"
    tried = ({}, {"graph": "ring", "what": "weights"})
    shown = (
        ("two neighbours (gossip, ring)", {"graph": "ring"}),
        ("changing partners (gossip)", {"graph": "rotating"}),
        ("neighbours' weights (gossip, ring)", {"graph": "ring", "what": "weights"}),
    )
    graph: object = "rotating"
    what: str = "updates"
    survives: ClassVar[bool] = True

    def __post_init__(self):
        object.__setattr__(self, "graph", graph_of(self.graph))
        word(self.what, "what", WHAT)

    @property
    def sends(self) -> str:
        return "weights" if self.what == "weights" else "packets"

    def matrix(self, size: int, t: int) -> np.ndarray:
        return matrix_of(self.graph, size, t)

    def doubts(self, size: int) -> str:
        if self.what == "weights" or not drifts_apart(self.graph, size):
            return ""
        return (
            f"{size} workers that mix updates by {self.graph!r} are driven apart: its mean over a period has the "
            f"eigenvalue {least_pull(self.graph, size):.2g}, so along one direction everybody is told to climb where "
            "it should descend; mix weights (what='weights'), or use 'rotating' or 'one_peer'"
        )

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        if self.what == "weights":
            turn.mixed[:] = 0
            turn.packet.add_to(turn.mixed)
            mine = turn.step(outer)
            return self._mix_weights(comm, turn, mine)
        turn.mixed[:] = 0
        for packet, share in heard(comm, self.matrix(comm.size, turn.t), turn.packet, instead=turn.packet):
            packet.add_to(turn.mixed, share)
        return turn.step(outer)

    def _mix_weights(self, comm, turn: Turn, mine) -> np.ndarray:
        mixed = turn.mixed
        mixed[:] = 0
        for w, share in heard(comm, self.matrix(comm.size, turn.t), mine, instead=mine):
            Dense(w).add_to(mixed, share)
        mine[:] = mixed
        return mine
