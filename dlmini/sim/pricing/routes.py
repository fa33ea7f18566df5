"""The network as arrays, for pricing: over which ports all messages of a step go."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dlmini.comm.schedules import NOBODY


@dataclass(frozen=True)
class Way:
    """The messages of a step, one column per rank: rank i sends to[i] a message over ports path[0, i], path[1, i], ...

    Who sends nothing, and whose route is shorter, passes the port behind all others, which costs nothing.
    """

    to: np.ndarray
    source: np.ndarray  # from whom each rank receives; the number of ranks: from nobody
    path: np.ndarray
    lax: np.ndarray  # ports where order is no question: the sender's own, and the one that costs nothing
    crowded: bool  # two messages pass the same port


class Routes:
    """The network between the ranks of one group, and their speeds."""

    def __init__(self, engine, ranks):
        cluster, self.size, self.ports = engine.cluster, engine.size, engine.ports
        self.network, self.ranks = cluster.network, list(ranks)
        self.per_byte, self.latency = np.array([*engine.per_byte, 0.0]), np.array([*engine.latency, 0.0])
        self.gamma = np.array([cluster.gamma / cluster.speed.get(rank, 1.0) for rank in self.ranks])
        self.overhead = cluster.overhead
        self.private = np.array([port.owner >= 0 for port in self.ports])
        place = {rank: i for i, rank in enumerate(self.ranks)}
        homes = [(p, place[port.owner]) for p, port in enumerate(self.ports) if port.owner in place]
        self.homes = np.array(homes, int).reshape(-1, 2)
        self._known: dict[bytes, Way] = {}

    def watched(self, engine) -> np.ndarray:
        """Until when, per port, others may have come. At its own port a rank's collectives follow in their order."""
        priced = np.array(engine.priced)
        return np.maximum(engine.seen, np.where(self.private, np.nextafter(priced, -np.inf), priced))

    def met_at_home(self, arrive: np.ndarray, watched: np.ndarray) -> bool:
        """Has some rank sent other messages through its own port since it came?"""
        port, rank = self.homes.T
        return bool((watched[port] >= arrive[rank]).any())

    def way(self, to: np.ndarray) -> Way:
        """The way of all who send to `to` (by rank; NOBODY: sends nothing)."""
        if 8 * np.count_nonzero(to != NOBODY) < len(to):  # quickly found, and there may be many such
            return self._find(to)
        key = to.tobytes()
        if key not in self._known:
            self._known[key] = self._find(to)
        return self._known[key]

    def _find(self, to: np.ndarray) -> Way:
        senders, nowhere = np.flatnonzero(to != NOBODY), len(self.ports)
        ranks = [(self.ranks[i], self.ranks[j]) for i, j in zip(senders.tolist(), to[senders].tolist(), strict=True)]
        routes = [self.network.route(source, dest, self.size) for source, dest in ranks]
        path = np.full((max(map(len, routes), default=0), len(to)), nowhere)
        for i, route in zip(senders.tolist(), routes, strict=True):
            path[: len(route), i] = route
        source = np.full(len(to), len(to))
        source[to[senders]] = senders
        used, owner = path[path != nowhere], np.array([port.owner for port in self.ports] + [NOBODY])
        lax = path == nowhere
        lax[:1] |= owner[path[:1]] == np.array(self.ranks)
        return Way(to, source, path, lax, len(np.unique(used)) < len(used))
