"""Some ranks, renumbered: a view of the world, on every transport."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dlmini.checks import refuse
from dlmini.comm.base import Comm
from dlmini.comm.channels import ANY, context_of


class Group(Comm):
    """Ranks `ranks[0], ranks[1], ...` as 0, 1, ...; time and bytes are booked by the world's communicator."""

    def __init__(self, parent: Comm, ranks: Sequence[int]):
        if not isinstance(ranks, Iterable) or getattr(ranks, "ndim", 1) != 1:
            refuse(TypeError, "ranks", ranks, "a row of ranks, such as [0, 2]")
        ranks = [parent._checked(rank, "group with") for rank in ranks]
        if len(set(ranks)) < len(ranks):
            raise ValueError(f"each rank may be in a group once, but the ranks given are {ranks}")
        if parent.rank not in ranks:
            raise ValueError(f"rank {parent.rank} asks for the group of ranks {ranks}, to which it does not belong")
        self.world = getattr(parent, "world", parent)
        self.ranks = [parent.ranks[rank] for rank in ranks] if isinstance(parent, Group) else ranks
        self.rank, self.size = ranks.index(parent.rank), len(ranks)
        self.places = {rank: place for place, rank in enumerate(self.ranks)}
        self.context = context_of(self.ranks)

    ledger = property(lambda self: self.world.ledger)
    phases = property(lambda self: self.world.phases)
    life = property(lambda self: self.world.life)
    spans = property(lambda self: self.world.spans)
    _unfinished = property(lambda self: self.world._unfinished)

    def now(self) -> float:
        return self.world.now()

    def gone(self) -> frozenset[int]:
        return frozenset(self.places[rank] for rank in self.world.gone() if rank in self.places)

    def give_up(self):
        self.world.give_up()

    def compute(self, label: str, fn, *args, flops: float = 0.0):
        return self.world.compute(label, fn, *args, flops=flops)

    def reached(self, share: float) -> None:
        self.world.reached(share)

    def emit(self, event) -> None:
        self.world.emit(event)

    def _add(self, store, lo: int, hi: int, part) -> None:
        self.world._add(store, lo, hi, part)

    def _send(self, dest: int, message, channel: int) -> None:
        self.world._send(self.ranks[dest], message, self.context + channel)

    def _recv(self, source: int, channel: int):
        return self.world._recv(self.ranks[source], self.context + channel)

    def _recv_any(self, channel: int) -> tuple[int, object]:
        source, message = self.world._recv_any(self.context + channel)
        return self.places[source], message

    def _due(self, source: int, channel: int) -> bool:
        return self.world._due(source if source == ANY else self.ranks[source], self.context + channel)

    def _arrives(self, seconds: float, channel: int) -> bool:
        return self.world._arrives(seconds, self.context + channel)

    def _poll(self, source: int, channel: int) -> bool:
        return self.world._poll(source if source == ANY else self.ranks[source], self.context + channel)
