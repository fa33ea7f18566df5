"""The area: the one segment that the ranks of a pool share, and what lies where in it.

board     the words by which they see each other (kernels/layout.py)
rings     a ring buffer per pair of ranks, and one from each rank to all: messages of any size pass through them
slabs     cells of each rank, where long messages lie while their addresses pass the rings
slots     two blocks per rank, sums two blocks for all: where vectors are added (kernels/summing.py)
control   orders to the ranks, where somebody gives any (control.py)
"""

from __future__ import annotations

import numpy as np

from dlmini.comm import control
from dlmini.comm.processes.kernels import layout

PAGE = 4096
RINGS = 2**24  # bytes for all ring buffers together ...
RING = range(PAGE, 2**18 + 1)  # ... but each within these bounds
SLABS = 2**25  # bytes for all slabs together ...
SLAB = 2**24  # ... but not more for each
# Large arrays begin just behind the start of a page, and some processors copy ten times slower between two places that
# lie at nearly the same distance from one (glibc's bug 30994): so the blocks begin in the middle of a page.
OFFSET = PAGE // 2
BLOCK = 2**18  # bytes: two blocks per rank stay in its second-level cache


class SharedArea:
    """Views of a segment for `size` ranks; scale 16 is full size, 4 and 1 are for machines with little memory.

    `words` is all of it, as words; the board comes first. `rings`, `slots` and `slabs` are where those begin.
    """

    def __init__(self, memory, size: int, scale: int = 16):
        self.size, self.memory = size, memory
        self.ring, self.block = ring_bytes(size, scale), block_bytes(scale)
        self.words = np.frombuffer(memory, np.int64)
        self.rings = page_end(8 * layout.length(size))
        self.slots = self.rings + size * size * self.ring + OFFSET
        self.slabs, self.cells = self.slots + 2 * (size + 1) * self.block, cells_each(size, scale)
        orders = control.length(size)
        self.control = np.frombuffer(memory, np.float64, orders, nbytes(size, scale) - 8 * orders)

    def ring_of(self, source: int, dest: int) -> int:
        """At which byte the ring buffer from source to dest begins, or from source to all where dest == source."""
        return self.rings + (source * self.size + dest) * self.ring

    def abort(self, run: int) -> None:
        """Every wait of this run ends."""
        self.words[layout.ABORT] = run

    def strike(self, rank: int, run: int) -> None:
        """A rank has died in this run. Its words have no writer any more; the parent writes them a last time.

        Whatever instruction it died at, nothing of the others' is broken: every word has one writer and is written
        whole, what a letter holds is written before the tail that announces it, and there are no locks. What it had
        announced stays where it lies, to be read; and it counts as a reader who has read everything, for ever.
        """
        for source in (source for source in range(self.size) if source != rank):
            for dest in (rank, source):
                self.words[layout.head_word(source, dest, rank, self.size)] = layout.FAR
        self.words[layout.rank_words(rank) + layout.HELD] = 0
        self.words[layout.rank_words(rank) + layout.FINISHED] = -run

    def begin(self) -> None:
        """A run begins: all ports of the network are free."""
        end = layout.length(self.size)
        self.words[end - layout.ports(self.size) : end] = 0

    def reset(self) -> None:
        """As new; only while no rank is at work."""
        self.words[: layout.length(self.size)] = 0


def nbytes(size: int, scale: int) -> int:
    """How much memory so many ranks share."""
    ring, block = ring_bytes(size, scale), block_bytes(scale)
    words = page_end(8 * layout.length(size)) + page_end(8 * control.length(size))
    slabs = size * cells_each(size, scale) * layout.CELL
    return words + size * size * ring + 2 * (size + 1) * block + slabs + PAGE


def ring_bytes(size: int, scale: int) -> int:
    share = RINGS * scale // 16 // size**2
    return min(max(share // PAGE * PAGE, RING.start), RING.stop - 1)


def cells_each(size: int, scale: int) -> int:
    """How many cells each rank has. One that is alone needs none: what it sends to itself stays where it is."""
    return min(SLABS // size, SLAB) * scale // 16 // layout.CELL if size > 1 else 0


def block_bytes(scale: int) -> int:
    return BLOCK * scale // 16


def page_end(nbytes: int) -> int:
    return -(-nbytes // PAGE) * PAGE
