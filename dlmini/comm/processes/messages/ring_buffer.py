"""The two ends of a ring buffer between processes, seen from Python: a writer, and one reader or several.

A message may be far longer than the buffer and all cells: what finds no room waits in the writer's own memory and
follows, piece by piece, as the reader makes room. So a send never waits, even when two ranks send huge messages to each
other first. What a letter looks like in a ring, see kernels/messages.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import partial

import numpy as np

from dlmini.comm.processes.kernels import layout
from dlmini.comm.processes.kernels.layout import ALL, NOTHING, TAIL, UNFIT, WANTED, WHOLE
from dlmini.comm.processes.shared_area import SharedArea
from dlmini.comm.wire import Envelope
from dlmini.jit import at_hand

BYTE = np.dtype(np.uint8)
EMPTY = np.empty(0, BYTE)
SMALL = 2**63  # what fits into one word
LINE = 64  # bytes: where a payload begins, its arrays are aligned
TIMES = (layout.SENT, layout.FIRST, layout.LAST)  # where in an end there are floats


class Ends:
    """What all ends of one rank share: the board, its cells, and the kernels, as compiled for their arguments."""

    def __init__(self, area: SharedArea, settings: np.ndarray, kernels):
        self.words, self.cells = area.words, np.zeros(area.cells * layout.KNOWN + 1, np.int64)
        common, end, numbers = (self.words, settings), np.zeros(layout.END, np.int64), np.zeros(1, np.int64)

        def ready(kernel, *args):
            return partial(at_hand(kernel, *common, end, *args), *common)

        self.post = ready(kernels.post, self.cells, 0, 0, 0.0, 0, 0, 0.0, 0.0, EMPTY)
        self.write, self.read = ready(kernels.write, self.cells, EMPTY, 0), ready(kernels.read, EMPTY)
        self.pull = ready(kernels.pull, EMPTY, 0, 0, numbers, numbers, 0, 0, 0)


def end_of(area: SharedArea, source: int, dest: int, peer: int) -> np.ndarray:
    """What kernels know of one end of the ring buffer from source to dest."""
    end = np.zeros(layout.END, np.int64)
    end[layout.WORDS], end[layout.DATA] = layout.ring_words(area.size)[source, dest], area.ring_of(source, dest)
    end[layout.CAPACITY], end[layout.PEER] = area.ring, peer
    return end


class Outgoing:
    """The writer's end of the ring from rank to dest (to all others, if that is rank itself). `left`: no room yet."""

    def __init__(self, area: SharedArea, rank: int, dest: int, ends: Ends):
        self.words, readers = ends.words, layout.readers(rank, dest, area.size)
        self.end = end_of(area, rank, dest, ALL if dest == rank else dest)
        self.heads = [layout.head_word(rank, dest, reader, area.size) for reader in readers]
        self.end[layout.POSITION] = self.words[self.end[layout.WORDS] + TAIL]
        self.end[layout.READERS] = len(readers)
        self._post, self._write = (partial(way, self.end, ends.cells) for way in (ends.post, ends.write))
        self.left: deque[tuple[Envelope | None, np.ndarray]] = deque()

    @property
    def tail(self) -> int:
        return int(self.end[layout.POSITION])

    def push(self, envelope: Envelope, body: list[np.ndarray]) -> None:
        """Write a letter, or keep a copy of what does not fit."""
        parts = [(envelope, body[0]), *((None, data) for data in body[1:])]
        if not self.left:
            while parts and (rest := self._rest(*parts[0])) is None:
                del parts[0]
            if parts:
                parts[0] = rest
        self._keep(parts)

    def push_vector(self, channel: int, now: float, data: np.ndarray) -> None:
        """The same for a vector of float32, as bytes: what is sent most, without detours. It has no header."""
        size, at = data.size, NOTHING
        if not self.left:
            at = self._post(*halves(channel), now, 0, size, now, now, data)
        if at != size:
            whole = Envelope(channel, now, 0, size, now, now), data
            self._keep([whole if at == NOTHING else (None, data[at:])])

    def _keep(self, parts: list[tuple[Envelope | None, np.ndarray]]) -> None:
        if parts:
            self.left.extend((envelope, data.copy()) for envelope, data in parts)
            self._want(1)

    def flush(self) -> None:
        """Write of what is left as much as there is room for."""
        while self.left:
            rest = self._rest(*self.left.popleft())
            if rest is not None:
                self.left.appendleft(rest)
                return
        self._want(0)

    def _want(self, room: int) -> None:
        self.words[self.end[layout.WORDS] + WANTED] = room

    def _rest(self, envelope: Envelope | None, data: np.ndarray) -> tuple[Envelope | None, np.ndarray] | None:
        """Write of a part what there is room for: what is left of it, if anything is."""
        if envelope is None:
            at = self._write(data, 0)
        else:
            at = self._post(*halves(envelope.channel), *envelope[1:], data)
        if at == NOTHING:
            return envelope, data
        return (None, data[at:]) if at < data.size else None


def halves(channel: int) -> tuple[int, int]:
    """A channel as two signed words, the lower one first."""
    if -SMALL <= channel < SMALL:
        return channel, 0
    low = (channel + SMALL) % (2 * SMALL) - SMALL
    return low, (channel - low) // (2 * SMALL)


class Incoming:
    """A reader's end of the ring from source to dest (to all others, if that is source)."""

    def __init__(self, area: SharedArea, source: int, dest: int, reader: int, ends: Ends):
        self.source, self.words, self.end = source, ends.words, end_of(area, source, dest, source)
        head = layout.head_word(source, dest, reader, area.size)
        self.end[layout.HEAD], self.end[layout.LENGTH] = head, -1
        self.end[layout.POSITION] = self.end[layout.TOLD] = self.words[head]
        self.tail_word, self.known = int(self.end[layout.WORDS]) + TAIL, memoryview(self.end)
        self.times = memoryview(self.end.view(np.float64))
        self._read, self.pull = partial(ends.read, self.end), partial(ends.pull, self.end)
        self.out, self.usual = EMPTY, 0  # where the letter goes that is being read; how long the last vector was

    @property
    def head(self) -> int:
        return self.known[layout.POSITION]

    def letters(self) -> Iterator[tuple[Envelope, bytes, memoryview]]:
        """Envelope, header, payload of every letter that is here as a whole."""
        while True:
            found = self._read(self.out)
            if found == UNFIT:
                self.out = self._memory()
            elif found == WHOLE:
                yield self._letter()
            else:
                return

    def _memory(self) -> np.ndarray:
        """For a header and, on a line of its own, the payload."""
        skip = -self.known[layout.HEADER] % LINE
        return np.empty(skip + self.known[layout.LENGTH], BYTE)[skip:]

    def _letter(self) -> tuple[Envelope, bytes, memoryview]:
        known, body, self.out = self.known, self.out.data, EMPTY
        sent, first, last = (self.times[i] for i in TIMES)
        header, channel = known[layout.HEADER], known[layout.LOW] + (known[layout.HIGH] << 64)
        if not header:
            self.usual = known[layout.PAYLOAD] // 4
        envelope = Envelope(channel, sent, header, known[layout.PAYLOAD], first, last)
        return envelope, bytes(body[:header]), body[header:]

    def tell(self) -> None:
        """Let the writer know how far I am."""
        self.words[self.end[layout.HEAD]] = self.end[layout.TOLD] = self.end[layout.POSITION]
