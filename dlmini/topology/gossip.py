"""Talk to a few: each worker mixes with its neighbours of the round, and news spreads hop by hop."""

from dataclasses import dataclass

import numpy as np

from dlmini.topology.graphs import GRAPHS, matrix_of
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn

WHAT = ("updates", "weights")


@dataclass(frozen=True)
class Gossip(Topology):
    """Mix with neighbours by a matrix K (see graphs.py).

        updates   w_i = start_i - outer(sum_j K_ij packet_j)                 (Tolstobrov 2022, Algorithms 2 and 3)
        weights   w_i = sum_j K_ij (start_j - outer(packet_j))               (D-PSGD, Lian et al. 2017)
    Mixing weights pulls workers together; mixing updates does not, it only makes them move alike.
    Cost: as many packets as K has entries beside the diagonal in a column. Nobody waits for those it does not mix with.
    """

    graph: str = "rotating"
    what: str = "updates"

    def __post_init__(self):
        if self.graph not in GRAPHS:
            raise ValueError(f"there is no graph called {self.graph!r}; choose one of {', '.join(GRAPHS)}")
        if self.what not in WHAT:
            raise ValueError(f"gossip mixes 'updates' or 'weights', not {self.what!r}")

    @property
    def sends(self) -> str:
        return "weights" if self.what == "weights" else "packets"

    def matrix(self, size: int, t: int) -> np.ndarray:
        return matrix_of(self.graph, size, t)

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        if self.what == "weights":
            turn.mixed[:] = 0
            turn.packet.add_to(turn.mixed)
            mine = turn.step(outer)
            return self._mix_weights(comm, turn, mine)
        turn.mixed[:] = 0
        for packet, share in self._heard(comm, turn.t, turn.packet):
            packet.add_to(turn.mixed, share)
        return turn.step(outer)

    def _mix_weights(self, comm, turn: Turn, mine) -> np.ndarray:
        mixed = turn.mixed
        mixed[:] = 0
        for w, share in self._heard(comm, turn.t, mine):
            mixed += np.float32(share) * w
        mine[:] = mixed
        return mine

    def _heard(self, comm, t: int, message):
        """(message, share) of everybody who reaches me this round, myself included, in the order of ranks."""
        K = self.matrix(comm.size, t)
        for other in np.flatnonzero(K[:, comm.rank]):
            if other != comm.rank:
                comm.send(int(other), message)
        for other in np.flatnonzero(K[comm.rank]):
            yield (message if other == comm.rank else comm.recv(int(other))), K[comm.rank, other]
