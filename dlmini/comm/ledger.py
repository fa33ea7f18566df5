"""The byte ledger: messages and bytes of one rank, per destination and channel; merged, of a whole run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dlmini.comm.channels import tag_of


class Entry(NamedTuple):
    source: int
    dest: int
    channel: int
    messages: int
    nbytes: int


class Ledger:
    """What `rank` has sent, booked by `Comm` alone, in world ranks. Bytes are those of the wire format (wire.py)."""

    __slots__ = ("lines", "rank")

    def __init__(self, rank: int):
        self.rank = rank
        self.lines: dict[tuple[int, int], list[int]] = {}

    def line(self, dest: int, channel: int) -> list[int]:
        """[messages, bytes] so far: the line itself, to be written on."""
        return self.lines.setdefault((dest, channel), [0, 0])

    def book(self, dest: int, channel: int, nbytes: int, messages: int = 1) -> None:
        line = self.line(dest, channel)
        line[0] += messages
        line[1] += nbytes

    def total(self) -> tuple[int, int]:
        """(messages, bytes) so far."""
        messages = nbytes = 0
        for line in self.lines.values():
            messages += line[0]
            nbytes += line[1]
        return messages, nbytes

    def entries(self) -> list[Entry]:
        return [Entry(self.rank, *key, *line) for key, line in self.lines.items() if line[0]]


class Traffic(NamedTuple):
    messages: int
    nbytes: int


class Books:
    """The ledgers of all ranks, for reading: by pair, by tag, by sender, in all."""

    def __init__(self, entries: Iterable[Entry]):
        self.entries = sorted(entries)

    def by(self, key) -> dict[object, Traffic]:
        """Traffic summed over all entries with the same key(entry)."""
        found: dict[object, Traffic] = {}
        for e in self.entries:
            old = found.get(key(e), Traffic(0, 0))
            found[key(e)] = Traffic(old.messages + e.messages, old.nbytes + e.nbytes)
        return found

    def per_pair(self) -> dict[tuple[int, int], Traffic]:
        return self.by(lambda e: (e.source, e.dest))

    def per_tag(self) -> dict[int, Traffic]:
        """Over all groups; the library's own tags are negative (see channels.py)."""
        return self.by(lambda e: tag_of(e.channel))

    def per_sender(self) -> dict[int, Traffic]:
        return self.by(lambda e: e.source)

    def total(self) -> Traffic:
        return self.by(lambda e: None).get(None, Traffic(0, 0))

    def __eq__(self, other) -> bool:
        return isinstance(other, Books) and self.entries == other.entries

    __hash__ = None
