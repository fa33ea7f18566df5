"""What every topology answers."""

from math import prod
from typing import ClassVar

import numpy as np


class Topology:
    """With whom to talk. An immutable description whose repr is the legend of a plot.

        matrix(size, t)                 row i says with which weight each worker's update reaches worker i in round t
        exchange(comm, turn, outer)     one worker's round: say the packet, hear others, step; returns the new weights

    servers     how many of the last ranks keep weights and compute no gradients
    waits       whether an exchange waits until its partners have come to it
    owns_codec  it compresses by itself, because arithmetic and talk are interleaved: no other compression is used
    sends       "packets", or "weights" if these travel whole, however the update was compressed
    by_layer    whether a worker remembers something for each layer, or each of its parts, and not for each weight
    survives    whether others can go on without a worker that has died (with servers: if nobody waits for everybody)
    mixes       whether a worker needs room for a mixture of what was said
    overlaps    it takes the gradient while that is computed, if nothing else is done with it before (buckets.py)
    folds       it never holds the gradient whole
    everywhere_alike  what becomes of a number on its way depends on nothing but the numbers in its place
    """

    servers: int = 0
    waits: ClassVar[bool] = True
    owns_codec: ClassVar[bool] = False
    sends: str = "packets"
    by_layer: bool = False
    survives: ClassVar[bool] = False
    mixes: bool = True
    overlaps: bool = False
    folds: bool = False
    everywhere_alike: bool = True

    def start(self, comm, w: np.ndarray, recipe, shapes):
        """What exchanges for one worker, all its life. A topology that remembers nothing does it itself.

        w: the weights that all begin with, which may be replaced in place; shapes: the arrays that w is made of.
        """
        return self

    def stepped(self, shapes, rank: int, workers: int) -> int:
        """On how many numbers of a vector of these shapes this worker's outer optimiser steps, and so must remember."""
        return sum(map(prod, shapes))

    def kept(self, shapes, rank: int, workers: int, recipe) -> int:
        """How many numbers this worker keeps for exchanging, beside weights, gradient and mixture."""
        return 0

    def doubts(self, size: int) -> str:
        """Why these workers may not learn as hoped, as a sentence; empty if there is no reason to worry."""
        return ""
