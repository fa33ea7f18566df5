"""Two levels: much talk inside a node, where links are fast; little between nodes, where they are slow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dlmini.checks import settle, whole
from dlmini.comm.schedules.folding import tail
from dlmini.comm.schedules.step import Plan, Step


@dataclass(frozen=True)
class Hierarchical:
    """Reduce-scatter inside each node of g ranks; an all-reduce ring between the h ranks of equal place, on 1/g of the
    vector; all-gather inside.

        time   2 (g-1)/g S beta_in + 2 (h-1)/h S/g beta_out + 2 (g-1) alpha_in + 2 (h-1) alpha_out
        sum    within each node around its ring, then around the ring of nodes

    N not a multiple of g: the ranks of the last, incomplete node are folded into the node before (folding.py).
    """

    per_node: int

    def __post_init__(self):
        settle(self, per_node=whole(self.per_node, "per_node", 1, hint="ranks in a node"))

    def allreduce(self, size: int) -> Plan:
        two = Levels(min(self.per_node, size), size)

        def trade(r) -> Iterator[Step]:
            yield from two.scatter(r)
            yield from two.gather(r)

        def steps(r) -> Iterator[Step]:
            return tail(size, two.full, two.g).around(r, two.full, trade(r)) if size > two.full else trade(r)

        return Plan(f"hierarchical({self.per_node})", size, two.full, steps, two.homes())

    def reduce_scatter(self, size: int) -> Plan:
        two = self._even(size)
        return Plan("hierarchical reduce-scatter", size, size, two.scatter, two.homes(), owner=two.homes())

    def allgather(self, size: int) -> Plan:
        two = self._even(size)
        return Plan("hierarchical all-gather", size, size, two.gather, two.homes(), owner=two.homes())

    def _even(self, size: int) -> Levels:
        if size % min(self.per_node, size):
            raise ValueError(
                f"{size} ranks do not fill nodes of {self.per_node}: halves of Hierarchical need a multiple; use ring"
            )
        return Levels(min(self.per_node, size), size)


class Levels:
    """g ranks in each of h full nodes. The vector has g slices of h chunks: chunk = slice * h + place in the slice."""

    def __init__(self, g: int, size: int):
        self.g, self.h = g, size // g
        self.full = self.g * self.h

    def scatter(self, r) -> Iterator[Step]:
        node, local = r // self.g, r % self.g
        yield from self._inside(r, local, add=True)
        yield from self._between(r, (local + 1) % self.g, node, add=True)

    def gather(self, r) -> Iterator[Step]:
        node, local = r // self.g, r % self.g
        yield from self._between(r, (local + 1) % self.g, node + 1, add=False)
        yield from self._inside(r, local + 1, add=False)

    def _inside(self, r, first, add: bool) -> Iterator[Step]:
        """Around the node's ring, a slice (h chunks) at a time."""
        g, h, base = self.g, self.h, r - r % self.g
        right, left = base + (r + 1) % g, base + (r - 1) % g
        for t in range(g - 1):
            out, into = (first - t) % g * h, (first - t - 1) % g * h
            yield Step(right, out, out + h, left, into, into + h, add)

    def _between(self, r, piece, first, add: bool) -> Iterator[Step]:
        """Around the ring of nodes, a chunk of my slice at a time."""
        g, h = self.g, self.h
        right, left = (r + g) % self.full, (r - g) % self.full
        for t in range(h - 1):
            out, into = piece * h + (first - t) % h, piece * h + (first - t - 1) % h
            yield Step(right, out, out + 1, left, into, into + 1, add)

    def homes(self) -> np.ndarray:
        """Chunk c of slice s is complete at local rank s - 1 of node c - 1."""
        piece, place = np.divmod(np.arange(self.full), self.h)
        return (place - 1) % self.h * self.g + (piece - 1) % self.g
