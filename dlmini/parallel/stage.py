"""Stages that `play` can work with: real ones, which compute, and ghosts, which only weigh."""

from __future__ import annotations

from math import prod

import numpy as np

from dlmini.comm.ghost import Ghost
from dlmini.parallel.timetable import BACKWARD


def work_of(kind: str, split: bool) -> float:
    """In ways forward: the gradients of inputs and those of weights each take as much as one."""
    return 2.0 if kind == BACKWARD and not split else 1.0


class LiveStage:
    """Some layers of a network at work: a pass for each micro-batch in flight, gradients added up in their order.

    Where the stage is the last, the loss of all micro-batches together is in `loss`: the batch's mean, as if it had
    never been cut. split: gradients of weights are jobs of their own.
    """

    def __init__(self, part, split: bool = False):
        self.part, self.split, self.idle, self.flying = part, split, [], {}
        self.spare = None  # room for the gradients of a second micro-batch
        self.at_once, self.later = runs(part, False), runs(part, True)

    def begin(self, w, grad, batch, cuts) -> None:
        """A batch, cut into micro-batches at these rows: w and grad are the stage's own slices."""
        self.w, self.grad, self.batch, self.cuts, self.loss = w, grad, batch, cuts, 0.0

    def rows(self, micro: int) -> slice:
        return slice(self.cuts[micro], self.cuts[micro + 1])

    def key(self, micro: int):
        """Every micro-batch draws its own coins; a whole batch those that it would draw anyway."""
        return self.batch.key if len(self.cuts) == 2 else (*self.batch.key, micro)

    def forward(self, micro: int, x):
        part, rows = self.part, self.rows(micro)
        self.flying[micro] = one = self.idle.pop() if self.idle else part.enter(self.split)
        y = one.forward(self.w, self.batch.x[rows] if part.first else x, part.mode(self.key(micro)))
        if part.last:
            self.loss += part.loss(one.ops, y, self.batch.y[rows], one.slope, len(self.batch.y))
        return y

    def backward(self, micro: int, dy):
        if self.split:
            dx = self.flying[micro].backward_inputs(self.w, self.room(), dy)
            self.add(micro, self.at_once)
            return dx
        one = self.flying.pop(micro)
        self.idle.append(one)
        if micro == 0:  # written where it belongs; all others are added to it
            return one.backward(self.w, self.grad, dy)
        dx = one.backward(self.w, self.room(), dy)
        self.grad += self.spare
        return dx

    def weights(self, micro: int, nothing) -> None:
        one = self.flying.pop(micro)
        self.idle.append(one)
        one.backward_weights(self.w, self.room())
        self.add(micro, self.later)

    def add(self, micro: int, runs) -> None:
        for run in runs:
            self.grad[run] = self.spare[run] if micro == 0 else self.grad[run] + self.spare[run]

    def room(self) -> np.ndarray:
        if self.spare is None:
            self.spare = np.empty_like(self.grad)
        return self.spare

    def flops(self, kind: str, micro: int) -> float:
        rows = self.rows(micro)
        return self.part.flops * (rows.stop - rows.start) * work_of(kind, self.split)


def runs(part, later: bool) -> list[slice]:
    """Where in a part's vector those gradients lie that can wait for a job of their own (`later`), or cannot."""
    found, at = [], 0
    for layer, shapes in zip(part.layers, part.parts, strict=True):
        size = sum(prod(shape) for shape in shapes)
        if size and layer.defers == later:
            found.append(slice(at, at + size))
        at += size
    return found


class GhostStage:
    """The same of a network that fits nowhere: shapes, bytes and FLOPs as its layers would have, and no numbers.

    images: in each micro-batch. nbytes: of its weights. kept: bytes that a micro-batch in flight keeps, the input of
    every layer.
    """

    def __init__(self, part, images: int, split: bool = False):
        self.part, self.images, self.split = part, images, split
        self.nbytes = part.size * part.dtype.itemsize
        self.kept = sum(prod(shape) for shape in part.shapes[:-1]) * images * part.dtype.itemsize

    def forward(self, micro: int, x) -> Ghost:
        return Ghost((self.images, *self.part.shapes[-1]), self.part.dtype)

    def backward(self, micro: int, dy) -> Ghost:
        return Ghost((self.images, *self.part.input), self.part.dtype)

    def weights(self, micro: int, nothing) -> None:
        """Nothing comes of it; it only takes its time."""

    def flops(self, kind: str, micro: int) -> float:
        return float(self.part.flops) * self.images * work_of(kind, self.split)
