"""The post inbox of one rank: what has come, from anybody, filed by source and channel.

A rank reads all its ring buffers whenever it waits for anything, so nobody's buffer stays full for long. No wait is for
ever: each ends with news, with an abort by the parent, or by itself after a while, to look again.
"""

from __future__ import annotations

import os
from functools import partial
from typing import NamedTuple

import numpy as np

from dlmini.comm import wire
from dlmini.comm.errors import Cancelled
from dlmini.comm.mailboxes import Mailboxes
from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.kernels.layout import ALL, NOTHING
from dlmini.comm.processes.messages.ring_buffer import BYTE, EMPTY, Ends, Incoming, halves
from dlmini.comm.processes.messages.sending import HELP, Outbox
from dlmini.comm.processes.shared_area import SharedArea
from dlmini.jit import at_hand

FLOAT32 = np.dtype(np.float32)
NAPS = 50  # naps of one wait, before Python looks at the world again


class Letter(NamedTuple):
    source: int
    envelope: wire.Envelope
    header: bytes
    payload: memoryview

    def message(self):
        """What was sent. Without a header it is a vector of float32."""
        return wire.unpack(self.header, self.payload) if self.header else np.frombuffer(self.payload, FLOAT32)

    @property
    def channel(self) -> int:
        return self.envelope.channel


class Inbox(Mailboxes):
    """What has come through ring buffers; `wait` waits for more."""

    def __init__(self, rank: int, area: SharedArea, settings: np.ndarray, kernels):
        super().__init__(rank, area.size)
        self.words, self.settings, self.kernels = area.words, settings, kernels
        self.run, self.crowded = int(settings[layout.RUN]), not settings[layout.SPIN]
        self.look = memoryview(area.words).__getitem__ if layout.X86 else partial(kernels.look, self.words)
        self.others = [other for other in range(self.size) if other != rank]
        self.nap = int(settings[layout.NANOSECONDS])
        ends = Ends(area, settings, kernels.letters)
        self.outbox = Outbox(rank, area, ends)
        self.incoming = [Incoming(area, s, rank, rank, ends) for s in self.others]
        self.incoming += [Incoming(area, s, s, rank, ends) for s in self.others]
        self.place = {source: i for i, source in enumerate(self.others)}
        self._watch()
        self.watch = at_hand(kernels.watch, self.words, settings, self.watched, self.seen, 0, 0)
        self.words[layout.rank_words(rank) + layout.HELD] = 0

    def _watch(self) -> None:
        """The words whose change is news: tails of my rings, who has finished; while letters are left, also heads."""
        finished = [layout.rank_words(other) + layout.FINISHED for other in self.others]
        tails = [ring.tail_word for ring in self.incoming]
        self.watched = np.array([*tails, *finished, *self.outbox.heads], np.int64)
        self.seen, self.rings, self.quiet = self.words[self.watched], len(tails), len(tails) + len(finished)
        self.seen[: self.rings] = [ring.head for ring in self.incoming]
        self.outbox.seen = self.seen[self.quiet :]
        self.finished = dict(zip(self.others, finished, strict=True))
        for other in self.others:
            self._look_at(other)

    # ---- receiving ----

    def wait(self, limit: float | None = None) -> None:
        """Wait for news of any kind, at most `limit` seconds, and see to it."""
        count = len(self.watched) if self.outbox.left else self.quiet
        self.settings[layout.NANOSECONDS] = self.nap if limit is None else max(1, min(self.nap, int(limit * 1e9)))
        naps = NAPS if limit is None else 1
        self.heed(self.watch(self.words, self.settings, self.watched, self.seen, count, naps))

    def heed(self, found: int) -> None:
        """See to what a wait ended with."""
        if found == layout.ABORTED:
            raise Cancelled
        if 0 <= found < self.rings:
            self._read(found)
        elif found >= self.quiet:
            self.outbox.flush()
        elif found >= 0:
            self.seen[found] = self.look(self.watched[found])
            self._look_at(self.others[found - self.rings])

    def _look_at(self, other: int) -> None:
        """Has it finished, or died?"""
        end = self.look(self.finished[other])
        if abs(end) == self.run:
            self.ended.add(other)
        if end == -self.run:
            self.lost.add(other)

    def dead(self) -> frozenset[int]:
        """Who has died by now, noticed in a wait or not."""
        return frozenset(other for other, word in self.finished.items() if self.look(word) == -self.run)

    def vector(self, source: int, channel: int) -> tuple[np.ndarray | None, float]:
        """Wait for news. If it is a vector of float32 of this channel, as long as the last one: (vector, when sent).

        What is received most goes without detours: the memory for it is there before it comes.
        """
        which = self.place[source]
        ring, count = self.incoming[which], len(self.watched) if self.outbox.left else self.quiet
        if ring.out is not EMPTY:  # a letter has begun to come
            self.wait()
            return None, 0.0
        out = np.empty(ring.usual, FLOAT32)
        data = out.view(BYTE)
        found = ring.pull(data, *halves(channel), self.watched, self.seen, count, NAPS, which)
        if found == layout.WHOLE:
            return out, ring.times[layout.SENT]
        if ring.known[layout.LENGTH] == data.size:
            ring.out = data
        if found == layout.UNFIT:
            self._read(which)
        else:
            self.heed(found)
        return None, 0.0

    def read_all(self) -> None:
        """See to everything that is here already; never waits."""
        if self.look(layout.ABORT) == self.run:
            raise Cancelled
        for i, ring in enumerate(self.incoming):
            if self.look(ring.tail_word) != ring.head:
                self._read(i)
        if self.outbox.left:
            self.outbox.flush()

    def _read(self, i: int) -> None:
        ring = self.incoming[i]
        for letter in ring.letters():
            self.come(Letter(ring.source, *letter))
        self.seen[i] = ring.head

    def expects(self, source: int) -> bool:
        """As inherited. If not, all that was sent is here now."""
        more = super().expects(source)
        if not more:
            self.read_all()
        return more

    def give_way(self) -> None:
        """After a look in vain: let others run, where ranks outnumber cores."""
        if self.crowded and hasattr(os, "sched_yield"):
            os.sched_yield()

    # ---- the end ----

    def close(self) -> dict[tuple[int, int], int]:
        """Send what is left, wait until everybody has; then how many letters lie unread, by source and channel."""
        while self.outbox.left:
            self.wait(HELP)  # not longer: the thread may send the last of it, and rings no bell for me
        self._announce(ALL, layout.rank_words(self.rank) + layout.FINISHED, self.run)
        while len(self.ended) < len(self.others):
            self.wait()
        self.read_all()
        for ring in self.incoming:
            ring.tell()
        return self.unread()

    def _announce(self, dest: int, word: int, value: int, wanted: int = NOTHING) -> None:
        self.kernels.publish(self.words, self.settings, word, value, dest, wanted)
