"""Some ranks only keep the weights: workers push what they learned and fetch what has become of it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dlmini.checks import piece, settle, whole
from dlmini.comm.errors import RankFailed, Unserved
from dlmini.topology.graphs import complete
from dlmini.topology.shard import FETCH, JOIN, LEAVE, PUSH, Shard
from dlmini.topology.topology import Topology
from dlmini.topology.turn import Turn


@dataclass(frozen=True)
class ParameterServer(Topology):
    """The last `servers` ranks keep the weights, a shard each, and step on what workers push.

        w -= outer(mean of `quorum` pushes)          quorum: by default all workers, or one where nobody waits
    Bulk-synchronous, stale-synchronous and asynchronous differ by who may go on (sync/gate.py). Cost: a worker sends
    and receives one packet; a server's port carries workers / servers of them each way, which is the bottleneck.
    All knock and are answered in the order of ranks: who is answered first pushes first, and from the second round on
    N workers and K <= N servers form a pipeline, g + 2 alpha + (N/K + 1) S beta a round. (If worker r began at server
    r mod K, the first round would be shorter and all others longer.)
    back: a compressor for the way back. The server then sends what a worker lacks, and whatever was left out is still
    lacking next time, so nothing is lost in this direction either.
    A worker that dies is struck off: where nobody waits for everybody the others go on, and only what it had not pushed
    is lost. If it comes back, it fetches the weights and goes on where the slowest of the others is. A server that dies
    takes its shard with it: the run ends, or goes on from its last checkpoint (`train`, restarts).
    Li et al., Scaling distributed machine learning with the parameter server, 2014.
    """

    word = "server"
    tried = ({}, {"servers": 2, "quorum": 2})
    shown = (("a parameter server", {}), ("two parameter servers", {"servers": 2}))
    servers: int = 1
    quorum: int | None = None
    back: object = None
    survives: ClassVar[bool] = True
    mixes: ClassVar[bool] = False

    def __post_init__(self):
        settle(self, servers=whole(self.servers, "servers", 1))
        if self.quorum is not None:
            settle(self, quorum=whole(self.quorum, "quorum", 1, hint="pushes that make a step"))
        if self.back is not None:
            piece(self.back, "back", ("fit", "remembers"), "a compressor for the way back, such as Int8()")
        if self.back is not None and self.back.remembers:
            raise ValueError(f"back={self.back!r} remembers by itself, but the server does so already; use another")

    @property
    def waits(self) -> bool:
        """Servers answer each worker alone; whether one waits for others is up to the synchronisation."""
        return False

    def matrix(self, size: int, t: int) -> np.ndarray:
        """Workers only: with a full quorum everybody hears everybody."""
        return complete(size, t)

    def stepped(self, shapes, rank: int, workers: int) -> int:
        """The servers step."""
        return 0

    def shards(self, length: int) -> list[tuple[int, int]]:
        """The part of the vector that each server keeps, as [low, high)."""
        return [(k * length // self.servers, (k + 1) * length // self.servers) for k in range(self.servers)]

    def start(self, comm, w, recipe, shapes):
        client = Client(self, comm.size - self.servers, w, recipe)
        if recipe.sync.joins(comm.rank) and not comm.life:
            client.fetch(comm, w)
        return client

    def serve(self, comm, w: np.ndarray, outer, recipe, before=None) -> np.ndarray:
        """A server's whole life: `w` is its shard. Returns the shard as it is when every worker has finished."""
        if comm.life:
            raise RankFailed(f"rank {comm.rank} came back, but the weights that it kept are lost", comm.rank, died=True)
        return Shard(self, w, outer, recipe, comm.size - self.servers).live(comm, before)


class Client:
    """A worker's side."""

    def __init__(self, topology: ParameterServer, workers: int, w: np.ndarray, recipe):
        self.shards = [(workers + k, low, high) for k, (low, high) in enumerate(topology.shards(w.size))]
        self.sync, self.rounds, self.seen = recipe.sync, recipe.rounds, w.copy() if topology.back else None

    def exchange(self, comm, turn: Turn, outer) -> np.ndarray:
        """`outer` lives on the servers."""
        for server, low, high in self.shards:
            comm.send(server, turn.packet.part(low, high), PUSH)
        if self.sync.fetches(turn.t):
            self.fetch(comm, turn.w)
        return turn.w

    def fetch(self, comm, w: np.ndarray) -> None:
        for server, low, high in self.shards:
            news = comm.recv(server, FETCH)
            if self.seen is None:
                w[low:high] = news
            else:
                news.add_to(self.seen[low:high])
                w[low:high] = self.seen[low:high]

    def rejoin(self, comm, w: np.ndarray) -> int:
        """Come back after a death: fetch all weights, and learn from the first server which round to go on with.

        Whoever finds a server that has ended comes too late, tells the others so, and has no round left.
        """
        joined, clock = [], None
        try:
            for server, low, high in self.shards:
                comm.send(server, (JOIN, comm.life, clock), PUSH)
                clock, w[low:high] = self.welcome(comm, server)
                joined.append(server)
        except Unserved:
            for server in joined:
                comm.send(server, (LEAVE,), PUSH)
            return self.rounds
        if self.seen is not None:
            self.seen[:] = w
        return clock

    def welcome(self, comm, server: int) -> tuple[int, np.ndarray]:
        """(round, weights) from a server; what it had sent before the death is dropped."""
        while True:
            news = comm.recv(server, FETCH)
            if isinstance(news, tuple) and news[0] == comm.life:
                return news[1:]

    def memory(self) -> dict:
        return {} if self.seen is None else {"seen": self.seen.copy()}

    def restore(self, memory: dict) -> None:
        if self.seen is not None:
            self.seen[:] = memory["seen"]
