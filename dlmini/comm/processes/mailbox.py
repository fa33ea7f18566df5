"""Ring buffers between processes: a writer, one reader or several, and bytes that go round and round.

    tail    how many bytes have ever been written; head: how many a reader has ever read; byte i lies at i mod capacity

Only the writer moves the tail and only the reader its head, so no lock is needed. A message (envelope, header, payload;
see wire.py) may be far longer than the buffer: what finds no room waits in the writer's own memory and follows, piece
by piece, as the reader makes room. So a send never waits, even when two ranks send huge messages to each other first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import numpy as np

from dlmini.comm.processes.kernels.board import TAIL, WANTED
from dlmini.comm.wire import ENVELOPE, Envelope


class Outgoing:
    """The writer's end. `left` is what found no room.

    `look(word)` reads a word of the board; `announce(word, value)` sets one of mine, and wakes who may wait for it.
    """

    def __init__(self, data: memoryview, words: memoryview, first: int, heads: list[int], look, announce):
        self.data, self.words, self.look, self.announce = data, words, look, announce
        self.tail_word, self.wanted_word, self.heads = first + TAIL, first + WANTED, heads
        self.tail = words[self.tail_word]
        self.left: deque[memoryview] = deque()

    def push(self, pieces: list) -> None:
        """Write these pieces, or keep a copy of what does not fit."""
        if self.left:
            self._keep(pieces, 0)
            return
        for i, piece in enumerate(pieces):
            done = self._write(memoryview(piece))
            if done < len(piece):
                self._keep([memoryview(piece)[done:], *pieces[i + 1 :]], 1)
                break
        self.announce(self.tail_word, self.tail)

    def flush(self) -> bool:
        """Write of what is left as much as there is room for. Did anything move?"""
        before = self.tail
        while self.left:
            done = self._write(self.left[0])
            if done < len(self.left[0]):
                self.left[0] = self.left[0][done:]
                break
            self.left.popleft()
        if not self.left:
            self.words[self.wanted_word] = 0
        if self.tail > before:
            self.announce(self.tail_word, self.tail)
        return self.tail > before

    def head(self) -> int:
        """How far the slowest reader is."""
        return min(map(self.look, self.heads))

    def _keep(self, pieces: list, wanted: int) -> None:
        self.left.extend(memoryview(bytes(piece)) for piece in pieces)
        if wanted:
            self.words[self.wanted_word] = 1

    def _write(self, piece: memoryview) -> int:
        """Copy into the ring what fits, and say how much."""
        capacity = len(self.data)
        count = min(len(piece), capacity - self.tail + self.head())
        at = self.tail % capacity
        first = min(count, capacity - at)
        self.data[at : at + first] = piece[:first]
        if count > first:
            self.data[: count - first] = piece[first:count]
        self.tail += count
        return count


class Incoming:
    """A reader's end. `letters` is an endless iterator of (envelope, header, payload), with None when bytes run out."""

    def __init__(self, source: int, data: memoryview, first: int, head_word: int, look, announce):
        self.source, self.data, self.look, self.announce = source, data, look, announce
        self.tail_word, self.wanted_word, self.head_word = first + TAIL, first + WANTED, head_word
        self.head = self.told = look(head_word)
        self.letters = self._letters()

    def _letters(self) -> Iterator[tuple[Envelope, bytes, memoryview] | None]:
        while True:
            if self.look(self.tail_word) == self.head:
                yield None
            elif (letter := self._whole()) is not None:
                yield letter
            else:
                envelope = Envelope.from_bytes((yield from self._read(ENVELOPE)))
                header = yield from self._read(envelope.header)
                yield envelope, bytes(header), (yield from self._read(envelope.payload))

    def _whole(self) -> tuple[Envelope, bytes, bytearray] | None:
        """The next letter, if it lies there in one piece, as short ones do."""
        at = self.head % len(self.data)
        here = self.data[at : at + self.look(self.tail_word) - self.head]
        if len(here) < ENVELOPE:
            return None
        envelope = Envelope.from_bytes(here)
        body = ENVELOPE + envelope.header
        end = body + envelope.payload
        if len(here) < end:
            return None
        letter = envelope, bytes(here[ENVELOPE:body]), bytearray(here[body:end])
        self._advance(end)
        return letter

    def _read(self, count: int) -> Iterator[None]:
        """The next `count` bytes, in memory of their own; gives None while they are not all here."""
        out, done = memoryview(np.empty(count, np.uint8)), 0
        while done < count:
            got = self._copy(out[done:])
            if not got:
                yield None
            done += got
        return out

    def _copy(self, out: memoryview) -> int:
        capacity = len(self.data)
        count = min(len(out), self.look(self.tail_word) - self.head)
        at = self.head % capacity
        first = min(count, capacity - at)
        out[:first] = self.data[at : at + first]
        if count > first:
            out[first:count] = self.data[: count - first]
        self._advance(count)
        return count

    def _advance(self, count: int) -> None:
        self.head += count
        if self.head - self.told > len(self.data) // 4:  # often enough: the writer never lacks more than this
            self.tell()

    def tell(self) -> None:
        """Let the writer know how far I am."""
        if self.head > self.told:
            self.told = self.head
            self.announce(self.head_word, self.told, self.wanted_word)
