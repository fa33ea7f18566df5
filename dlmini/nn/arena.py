"""The memory of one pass: activations are kept until the way back, gradients only until the next layer has read them.

Where a gradient lies is planned before the first step: two whose times do not overlap share their memory. So a long
network needs room for the two or three largest gradients at a time, however many it has.
"""

from math import prod

import numpy as np

LINE = 16  # floats of a cache line: every gradient begins on one, and leaves one to spare, which vector code may read


class Slot:
    """A place for numbers that are needed from one moment to another; its array is there once the arena is settled."""

    def __init__(self, shape, start, stop):
        self.shape, self.start, self.stop, self.offset, self.array = shape, start, stop, None, None

    @property
    def size(self):
        return -(-prod(self.shape) // LINE) * LINE + LINE

    def meets(self, other):
        return self.start < other.stop and other.start < self.stop


class Arena:
    """Hands out memory while the arrays of a network are laid out, layer by layer.

    The clock counts layers forward. The way back goes through the same moments in reverse order, so that two
    gradients overlap in one order if they do in the other. With share=False nothing is shared, and every gradient is
    still there when the way back is at its end.
    """

    def __init__(self, zeros, share=True):
        self.zeros, self.share, self.clock, self.slots, self.memory = zeros, share, 0, [], None

    def kept(self, *shape, dtype=None):
        """An array of zeros for as long as the pass lives."""
        return self.zeros(*shape) if dtype is None else self.zeros(*shape, dtype=dtype)

    def passing(self, *shape, start=None, stop=None):
        """A place that is needed on the way back only: by the layer that asks, unless other moments are named."""
        start = self.clock if start is None else start
        slot = Slot(shape, start, start + 1 if stop is None else stop)
        self.slots.append(slot)
        return slot

    def settle(self):
        """Give every slot its place: the largest first, each as low as those allow that it meets in time."""
        placed = []
        for slot in sorted(self.slots, key=lambda s: -s.size):
            slot.offset = 0
            for other in sorted((o for o in placed if o.meets(slot) or not self.share), key=lambda o: o.offset):
                if slot.offset + slot.size > other.offset:
                    slot.offset = max(slot.offset, other.offset + other.size)
            placed.append(slot)
        self.memory = self.zeros(max((s.offset + s.size for s in placed), default=0))
        for slot in placed:
            slot.array = self.memory[slot.offset : slot.offset + prod(slot.shape)].reshape(slot.shape)


def rows(held, images):
    """The part of what a layer holds that belongs to the first images of a batch."""
    if isinstance(held, tuple):
        return tuple(rows(one, images) for one in held)
    held = held.array if isinstance(held, Slot) else held
    return held[:images] if isinstance(held, np.ndarray) else held
