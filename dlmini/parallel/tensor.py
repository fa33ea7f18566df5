"""Layers that several ranks share: each holds some of a layer's weights, and computes with those.

    column    y_k = x A_k + b_k           my outputs; x is whole on every rank
    row       z = sum_k y_k B_k + b       y_k is mine, the partial products are added up; the bias once, after the sum
A column split hands its outputs to a row split as they are: what lies between may act on each output (channel) alone.
Between the two nothing is sent. Around them stand Megatron's operators, each the other's derivative:

    f    forward the identity, back a sum over ranks      before columns: each rank knows its outputs' part of dx
    g    forward a sum over ranks, back the identity      behind rows
So a pair costs one all-reduce forward and one back; none back where the input is the network's own.
Of dense layers units are shared, of convolutions channels: columns by those that come out, rows by those that go in.

    every output to everyone    y = (x A_0 + b_0, x A_1 + b_1, ...), gathered after each layer
is the split of S3's source: one all-gather forward and one all-reduce back for each layer, twice as many messages.
Shoeybi et al., Megatron-LM: training multi-billion parameter language models using model parallelism, 2019.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from dlmini.comm.schedules import cut, native
from dlmini.nn.conv import Conv2d
from dlmini.nn.layers import Dense, Layer


class Sharers:
    """The ranks that share layers, seen from one of them. Without a communicator: only who holds what."""

    def __init__(self, rank: int, size: int, comm=None, how=native):
        self.rank, self.size, self.comm, self.how = rank, size, comm, how

    def mine(self, outputs: int) -> slice:
        """Which of a layer's outputs are mine."""
        low, high = cut(outputs, self.size)[self.rank : self.rank + 2].tolist()
        return slice(low, high)

    def count(self, outputs: int) -> int:
        mine = self.mine(outputs)
        return mine.stop - mine.start

    def add(self, x: np.ndarray) -> None:
        """x becomes the sum over ranks: g forward, f back."""
        x[...] = self.comm.allreduce(x, self.how)

    def gather(self, mine: np.ndarray, out: np.ndarray) -> None:
        """Everybody's outputs, side by side."""
        at = 0
        for part in self.comm.allgather(np.ascontiguousarray(mine), self.how):
            out[..., at : at + part.shape[-1]] = part
            at += part.shape[-1]


def outputs(layer: Layer) -> int:
    """How many units, or channels, come out of a layer that can be shared."""
    return layer.units if isinstance(layer, Dense) else layer.channels


def of_outputs(layer: Layer, count: int) -> Layer:
    """The same layer with so many of its units, or channels."""
    return replace(layer, units=count) if isinstance(layer, Dense) else replace(layer, channels=count)


@dataclass(frozen=True, eq=False)
class Shared(Layer):
    """What one rank does of a layer. `layer`: the whole one; `own`: what is computed here."""

    layer: Dense | Conv2d
    sharers: Sharers
    looks: ClassVar = False

    @cached_property
    def own(self) -> Layer:
        return self.layer

    def parameters(self, shape):
        return self.own.parameters(shape)

    def output(self, shape):
        return self.own.output(shape)

    def flops(self, shape):
        return self.own.flops(shape)

    def border(self, shape):
        return self.own.border(shape)

    def forward(self, ops, p, x, y, memo, mode):
        self.own.forward(ops, p, x, y, None, mode)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        self.own.backward(ops, p, g, x, y, dy, dx, None)


@dataclass(frozen=True, eq=False)
class Column(Shared):
    """My outputs of a layer. back: whether anybody wants to know the gradient of what comes in."""

    back: bool = True

    @cached_property
    def own(self) -> Layer:
        return of_outputs(self.layer, self.sharers.count(outputs(self.layer)))

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        super().backward(ops, p, g, x, y, dy, dx, memo)
        if dx is not None and self.back:
            self.sharers.add(dx)  # f


@dataclass(frozen=True, eq=False)
class Row(Shared):
    """What my inputs make of all outputs, and then all of it."""

    def forward(self, ops, p, x, y, memo, mode):
        w, b = p
        super().forward(ops, (w, np.zeros_like(b)), x, y, memo, mode)
        self.sharers.add(y)  # g
        y += b


@dataclass(frozen=True, eq=False)
class EveryOutput(Column):
    """My outputs of a layer, and then everybody's."""

    def output(self, shape):
        return self.layer.output(shape)

    def memo(self, images, shape, arena):
        return arena.kept(images, *self.own.output(shape))

    def forward(self, ops, p, x, y, memo, mode):
        self.own.forward(ops, p, x, memo, None, mode)
        self.sharers.gather(memo, y)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        mine = self.sharers.mine(outputs(self.layer))
        super().backward(ops, p, g, x, y, np.ascontiguousarray(dy[..., mine]), dx, memo)


def ColumnDense(units: int, sharers: Sharers, back: bool = True) -> Column:
    """A dense layer of `units` outputs, of which this rank has some."""
    return Column(Dense(units), sharers, back)


def RowDense(units: int, sharers: Sharers) -> Row:
    """A dense layer of `units` outputs, of whose inputs this rank has some."""
    return Row(Dense(units), sharers)
