"""One worker is also the server."""

from dataclasses import dataclass

import numpy as np

from dlmini.topology.graphs import complete
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn

PUSH, FETCH = 1, 2


@dataclass(frozen=True)
class Star(Topology):
    """Everybody sends a packet to worker 0, who adds them in the order of ranks, steps, and sends the new weights.

        w = start - outer(1/P sum_j packet_j)              outer lives on worker 0
    As ParameterServer(1) with a full quorum, to the bit, but without a machine that only serves. Cost: 2 messages per
    worker, but all pass the port of worker 0, in and then out: 2 (P - 1) S beta for S bytes, where a ring takes
    2 (P - 1)/P S beta. Weights travel back whole, whatever the compression: then (P - 1) (packet + S) beta.
    The cluster of six classroom computers in the course's first source works so.
    """

    word = "star"

    def matrix(self, size: int, t: int) -> np.ndarray:
        return complete(size)

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        if comm.rank == 0:
            return self._serve(comm, turn, outer)
        comm.send(0, turn.packet, PUSH)
        turn.w[:] = comm.recv(0, FETCH)
        return turn.w

    def _serve(self, comm, turn: Turn, outer) -> np.ndarray:
        turn.mixed[:] = 0
        for rank in range(comm.size):
            packet = comm.recv(rank, PUSH) if rank else turn.packet
            packet.add_to(turn.mixed, 1 / comm.size)
        w = turn.step(outer)
        for rank in range(1, comm.size):
            comm.send(rank, w, FETCH)
        return w
