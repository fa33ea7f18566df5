"""Some ranks only keep the weights: workers push what they learned and fetch what has become of it."""

from dataclasses import dataclass

import numpy as np

from dlmini.topology.graphs import complete
from dlmini.topology.turn import Turn

PUSH, FETCH = 1, 2


@dataclass(frozen=True)
class ParameterServer:
    """The last `servers` ranks keep the weights, a shard each, and step on what workers push.

        w -= outer(mean of `quorum` pushes)          quorum: by default all workers, or one where nobody waits
    Bulk-synchronous, stale-synchronous and asynchronous differ by one inequality, `may_go_on`. Cost: a worker sends
    and receives one packet; a server's port carries workers / servers of them each way, which is the bottleneck.
    Li et al., Scaling distributed machine learning with the parameter server, 2014.
    """

    servers: int = 1
    quorum: int | None = None

    def __post_init__(self):
        if self.servers < 1 or (self.quorum is not None and self.quorum < 1):
            raise ValueError(f"{self}: there must be at least one server, and a quorum of at least one push")

    def matrix(self, size: int, t: int) -> np.ndarray:
        """Workers only: with a full quorum everybody hears everybody."""
        return complete(size)

    def shards(self, length: int) -> list[tuple[int, int]]:
        """The part of the vector that each server keeps, as [low, high)."""
        return [(k * length // self.servers, (k + 1) * length // self.servers) for k in range(self.servers)]

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        """A worker's side; `outer` lives on the servers."""
        workers = comm.size - self.servers
        parts = self.shards(turn.w.size)
        for k, (low, high) in enumerate(parts):
            comm.send(workers + k, turn.packet.part(low, high), PUSH)
        for k, (low, high) in enumerate(parts):
            turn.w[low:high] = comm.recv(workers + k, FETCH)
        return turn.w

    def serve(self, comm, w: np.ndarray, outer, rounds: int, staleness: float) -> np.ndarray:
        """A server's whole life: `w` is its shard. Returns the shard as it is when every worker has finished."""
        workers = comm.size - self.servers
        quorum = self.quorum or (workers if staleness == 0 else 1)
        clocks, waiting, heap = np.zeros(workers, int), set(), []
        for _ in range(workers * rounds):
            worker, packet = comm.recv_any(PUSH)
            heap.append((worker, packet))
            clocks[worker] += 1
            waiting.add(worker)
            if len(heap) == quorum:
                apply(w, heap, outer)
                heap = []
            for ready in sorted(r for r in waiting if may_go_on(clocks, r, staleness)):
                comm.send(ready, w, FETCH)
                waiting.discard(ready)
        return w


def may_go_on(clocks: np.ndarray, worker: int, staleness: float) -> bool:
    """SSP's inequality: nobody runs more than `staleness` rounds ahead of the slowest."""
    return clocks[worker] - staleness <= clocks.min()


def apply(w: np.ndarray, pushes: list, outer) -> None:
    """One step on the mean of some pushes, added in the order of ranks whatever the order of arrival."""
    mixed = np.zeros_like(w)
    for _, packet in sorted(pushes, key=lambda push: push[0]):
        packet.add_to(mixed, 1 / len(pushes))
    outer.apply(w, mixed)
