"""Sums that overlap with the way back: the gradient leaves in buckets, each as soon as it is filled.

The way back fills the gradient vector from its end. A bucket is a run of whole layers; when the last of them is there,
its sum is posted, and goes on beside the rest of the way back:

    time of a round   F + max over buckets of (when it is filled + sums of it and of those behind it, one by one)
                      instead of  F + B + one sum;  with equal buckets whose sums are shorter than the work between
                      them, all but the last bucket's sum is hidden
More buckets hide more, and pay more latencies. Li et al., PyTorch distributed: experiences on accelerating data
parallel training, 2020.
"""

from __future__ import annotations

from itertools import accumulate, islice
from math import prod

import numpy as np


def buckets(shapes, least: int) -> list[tuple[int, int]]:
    """[low, high) of each bucket, the last first: whole layers, at least `least` numbers but in the one that is left.

    What is left at the beginning of the vector and is smaller is the last to leave, and has the least time to hide: it
    stays a bucket of its own. (Shapes that say nothing of layers are layers of one array each; nn/shapes.py.)
    """
    together = getattr(shapes, "together", (1,) * len(shapes))
    starts = list(accumulate(layer_sizes(shapes, together), initial=0))
    found, high = [], starts[-1]
    for low in reversed(starts[:-1]):
        if high - low >= least or low == 0:
            found.append((low, high))
            high = low
    return found


def layer_sizes(shapes, together):
    arrays = map(prod, shapes)
    return [sum(islice(arrays, count)) for count in together]


class Buckets:
    """One worker's buckets. `grad` is where its gradient is written, `ready` what it is told meanwhile.

    `post(part)` begins to sum one; the topology that made this knows what to do with the sums.
    """

    def __init__(self, comm, edges: list[tuple[int, int]], post, grad):
        self.comm, self.edges, self.post, self.grad = comm, edges, post, grad
        self.pending = []

    def encode(self, update, coin=None) -> Buckets:
        """All is said while it is computed: this takes the place of a codec and of its packet."""
        return self

    @property
    def nbytes(self) -> int:
        """Of what is said in a round."""
        return 4 * sum(high - low for low, high in self.edges)

    def ready(self, low: int, share: float) -> None:
        """grad[low:] is final, and this share of the work is done."""
        self.comm.reached(share)
        while self.left and self.left[0][0] >= low:
            self.say(self.grad)

    @property
    def left(self) -> list[tuple[int, int]]:
        """The buckets that have not left yet."""
        return self.edges[len(self.pending) :]

    def say(self, vector) -> None:
        low, high = self.left[0]
        self.pending.append(self.post(vector[low:high]))

    def sums(self, turn):
        """(low, high, sum) of every bucket, waited for; those that have not left yet leave now."""
        while self.left:
            self.say(self.grad if turn.packet is self else turn.packet.summand)
        pending, self.pending = self.pending, []
        for (low, high), one in zip(self.edges, pending, strict=True):
            yield low, high, one.wait()


class Folded:
    """A vector of which one bucket exists at a time: every bucket begins at the same place in memory.

    A gradient is written into it layer by layer, from the last on, and what has left its bucket may be overwritten.
    """

    folded = True

    def __init__(self, edges: list[tuple[int, int]], dtype=np.float32):
        self.edges, self.memory = edges, np.zeros(max((high - low for low, high in edges), default=0), dtype)

    @property
    def nbytes(self) -> int:
        return self.memory.nbytes

    def __getitem__(self, part: slice) -> np.ndarray:
        """A view of what lies within one bucket."""
        first = next(low for low, high in self.edges if low <= part.start and part.stop <= high)
        return self.memory[part.start - first : part.stop - first]
