"""Which layers of a network are shared among ranks, and which numbers of its vector each rank then holds."""

from __future__ import annotations

from itertools import accumulate
from math import prod
from typing import NamedTuple

import numpy as np

from dlmini.nn.branches import Residual, Skip
from dlmini.nn.conv import Conv2d
from dlmini.nn.layers import Dense, Flatten, Layer, ReLU, Tanh
from dlmini.nn.model import Model
from dlmini.nn.norm import BatchNorm
from dlmini.nn.part import Part
from dlmini.nn.pool import AvgPool, MaxPool
from dlmini.parallel.tensor import Column, EveryOutput, Row, Sharers, outputs

WAYS = ("pairs", "every output")
BETWEEN = (ReLU, Tanh, MaxPool, AvgPool, Flatten, BatchNorm)  # what acts on each output, or channel, alone


class Held(NamedTuple):
    """A rank's part of one array: the array seen with shape `view`, and of that `index`."""

    shape: tuple[int, ...]
    view: tuple[int, ...]
    index: tuple

    @property
    def own(self) -> tuple[int, ...]:
        return np.empty(self.view, np.uint8)[self.index].shape if self.index else self.view


def all_of(shape) -> Held:
    return Held(shape, shape, ())


class Sharing:
    """Goes through a row of layers and shares what it can. `held`: of every array of the whole, what is mine."""

    def __init__(self, sharers: Sharers, way: str = "pairs"):
        self.sharers, self.way, self.held, self.shared = sharers, way, [], 0

    def row(self, layers, shape, back: bool) -> list[Layer]:
        """back: whether the gradient of what comes in is wanted."""
        found, rest = [], list(layers)
        while rest:
            inside = self.pair(rest, shape, back) if self.way == "pairs" else self.every(rest[0], shape, back)
            inside = inside or [self.whole(rest[0], shape)]
            found += inside
            for layer in rest[: len(inside)]:
                back = back or bool(layer.parameters(shape))
                shape = layer.output(shape)
            rest = rest[len(inside) :]
        return found

    def fits(self, layer) -> bool:
        return type(layer) in (Dense, Conv2d) and outputs(layer) >= self.sharers.size

    def every(self, layer, shape, back: bool) -> list[Layer]:
        if not self.fits(layer):
            return []
        self.keep_columns(layer, shape)
        return [EveryOutput(layer, self.sharers, back)]

    def pair(self, layers, shape, back: bool) -> list[Layer]:
        """The first layer by columns, the next of its kind by rows, and what is between; nothing if that is not so."""
        first = layers[0]
        last = next((i for i, layer in enumerate(layers) if i and not isinstance(layer, BETWEEN)), len(layers))
        if not self.fits(first) or last == len(layers) or type(layers[last]) not in (Dense, Conv2d):
            return []
        self.keep_columns(first, shape)
        mine, shape = self.sharers.mine(outputs(first)), first.output(shape)
        image = shape
        for layer in layers[1:last]:
            self.held += [Held(s, image if len(shape) == 1 else s, (..., mine)) for s in layer.parameters(shape)]
            shape = layer.output(shape)
            image = image if isinstance(layer, Flatten) else shape
        self.keep_rows(layers[last], shape, image, mine)
        return [Column(first, self.sharers, back), *layers[1:last], Row(layers[last], self.sharers)]

    def keep_columns(self, layer, shape) -> None:
        self.shared += 1
        mine = self.sharers.mine(outputs(layer))
        self.held += [Held(s, s, (..., mine)) for s in layer.parameters(shape)]

    def keep_rows(self, layer, shape, image, mine: slice) -> None:
        """image: the shape whose last axis was shared; behind Flatten its channels are spread over all rows."""
        w, b = layer.parameters(shape)
        view = (*image, w[-1]) if len(shape) == 1 else w
        self.held += [Held(w, view, (..., mine, slice(None))), all_of(b)]

    def whole(self, layer, shape) -> Layer:
        """A layer that every rank computes for itself; in what it holds, layers are shared."""
        if type(layer) is Residual:
            inner = self.row(layer.layers, shape, True)
            self.held += [
                all_of(s) for _, one, got in layer.held(shape)[len(layer.layers) :] for s in one.parameters(got)
            ]
            return Residual(inner, layer.shortcut)
        if type(layer) is Skip:
            return Skip(self.row(layer.layers, shape, True))
        self.held += [all_of(s) for s in layer.parameters(shape)]
        return layer


class SharedPart(Part):
    """Some layers of a network, shared: a network of one rank's own part of the weights."""

    def __init__(self, part: Part, sharers: Sharers, way: str = "pairs"):
        self.part = part
        sharing = Sharing(sharers, way)
        layers = sharing.row(part.layers, part.input, not part.first)
        if not sharing.shared:
            raise ValueError(
                f"{sharers.size} ranks, but no two layers of {list(part.layers)} can be shared among them: it takes a "
                "dense layer or a convolution with as many outputs, and another one behind it; use tensor=1 there, or "
                "fewer ranks"
            )
        Model.__init__(self, layers, part.input, part.loss, dtype=part.dtype, kernels=part.kernels)
        self.pieces, self.above, self.first, self.last, self.drawn = (
            getattr(part, name) for name in ("pieces", "above", "first", "last", "drawn")
        )
        self.low, self.high, self.held = part.low, part.high, sharing.held
        self.starts = list(accumulate((prod(held.shape) for held in self.held), initial=0))

    def initial(self, seed: int = 0) -> np.ndarray:
        """As the whole begins."""
        return self.cut(self.part.initial(seed))

    def cut(self, whole: np.ndarray) -> np.ndarray:
        """My numbers of the part's vector, or of several of them, one above the other."""
        rows = whole.shape[:-1]
        views = [self.view(whole, i) for i in range(len(self.held))]
        return np.concatenate([view.reshape(*rows, -1) for view in views], axis=-1)

    def paste(self, own: np.ndarray, whole: np.ndarray) -> None:
        """The way back."""
        at = 0
        for i, held in enumerate(self.held):
            size = prod(held.own)
            self.view(whole, i)[...] = own[..., at : at + size].reshape(*whole.shape[:-1], *held.own)
            at += size

    def view(self, whole: np.ndarray, i: int) -> np.ndarray:
        held, rows = self.held[i], (slice(None),) * (whole.ndim - 1)
        array = whole[..., self.starts[i] : self.starts[i + 1]].reshape(*whole.shape[:-1], *held.view)
        return array[(*rows, *held.index)] if held.index else array
