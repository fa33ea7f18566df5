"""Lanes: the way of all messages of one (source, dest, channel), and what lies unread at its end.

A message on its way is a tuple in the agenda, at the moment its first byte reaches the port `ports[hop]`:

    (tie, serial, lane, hop, data, nbytes, sent, tail, code, lasti)

`sent` is when send was called, `tail` the earliest time for the last byte, `code` and `lasti` where in the program.
What has come but is not yet taken is a letter: (when it is here, number of its landing, lane, message).
"""

from __future__ import annotations

from heapq import heappop, heappush

DATA, NBYTES, SENT, CODE, LASTI = 4, 5, 6, 8, 9


SLOTS = "box channel departed dest ends first last latency line origin own per_byte ports queue salt seen source to"


class Lane:
    """From `source` to `dest` (ranks) over `ports`. `last` and `seen` number the last message sent and landed."""

    __slots__ = tuple(SLOTS.split())

    def __init__(self, engine, source, dest, channel: int):
        self.source, self.dest, self.channel = source, dest, channel
        self.origin, self.to, self.ends = source.rank, dest.rank, (source.rank, dest.rank, channel)
        self.line = source.ledger.line(dest.rank, channel)
        self.box: list[tuple] = []  # letters, in the order of sending
        self.queue: Queue | None = None
        self.last, self.seen, self.departed = 0, 0, 0.0
        self.ports = engine.cluster.network.route(source.rank, dest.rank, engine.size)
        first = engine.ports[self.ports[0]] if self.ports else None
        self.own = first is not None and first.owner == source.rank
        self.first, self.salt = self.ports[0] if self.ports else None, hash((engine.seed, source.rank))
        self.latency, self.per_byte = (first.latency, first.per_byte) if first else (0.0, 0.0)

    def lost(self, gone) -> object | None:
        """Who is gone so that nothing can come any more, if anybody: the source, and nothing is under way."""
        return self.source if self.source in gone and self.last == self.seen else None


class Queue(list):
    """All letters of one channel as a heap, for those who receive from anybody.

    A letter that is taken from its lane by name stays here until it comes up.
    """

    def __init__(self, channel: int):
        self.channel = channel

    def attach(self, lane: Lane) -> None:
        lane.queue = self
        for letter in lane.box:
            heappush(self, letter)

    def first(self):
        """The letter that is here first, or None."""
        while self and not (self[0][2].box and self[0][2].box[0] is self[0]):
            heappop(self)
        return self[0] if self else None
