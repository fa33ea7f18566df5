"""Any wiring at all: places joined by links, messages routed over the quickest way."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

from dlmini.comm.network import SHARED, Link, Port


@dataclass(frozen=True)
class Graph:
    """`links` are (place, place, Link), alike in both directions; rank r sits at places[r], or at place r.

    A message takes the way of least latency, then of fewest hops; each direction of a link is one port, shared by all.
    A place without a rank is a switch. Example: Graph((("a", 0, fast), ("a", 1, fast), ("a", 2, slow))).
    """

    links: tuple[tuple[Hashable, Hashable, Link], ...]
    places: tuple[Hashable, ...] | None = None

    def ports(self, size: int) -> list[Port]:
        return [link.out(SHARED) for _, _, link in self.links for _ in range(2)]

    def route(self, source: int, dest: int, size: int) -> tuple[int, ...]:
        here, there = self._place(source, size), self._place(dest, size)
        if here not in self._known:
            self._known[here] = self._ways_from(here)
        if there not in self._known[here]:
            raise ValueError(f"no way leads from rank {source} at {here!r} to rank {dest} at {there!r}")
        return self._known[here][there]

    def _place(self, rank: int, size: int) -> Hashable:
        if self.places is None:
            return rank
        if len(self.places) < size:
            raise ValueError(f"the graph has places for {len(self.places)} ranks, but there are {size}")
        return self.places[rank]

    @cached_property
    def _known(self) -> dict[Hashable, dict[Hashable, tuple[int, ...]]]:
        return {}

    @cached_property
    def _exits(self) -> dict[Hashable, list[tuple[int, Hashable, float]]]:
        """From each place: (port, place behind it, latency)."""
        found: dict[Hashable, list] = {}
        for i, (a, b, link) in enumerate(self.links):
            found.setdefault(a, []).append((2 * i, b, link.latency))
            found.setdefault(b, []).append((2 * i + 1, a, link.latency))
        return found

    def _ways_from(self, here: Hashable) -> dict[Hashable, tuple[int, ...]]:
        """Dijkstra's algorithm; ties go to the way with the smaller port numbers, so routes never depend on chance."""
        ways: dict[Hashable, tuple[int, ...]] = {}
        heap: list = [(0.0, 0, (), 0, here)]
        while heap:
            far, hops, way, _, place = heappop(heap)
            if place in ways:
                continue
            ways[place] = way
            for port, beyond, latency in self._exits.get(place, ()):
                heappush(heap, (far + latency, hops + 1, (*way, port), port, beyond))
        return ways
