"""Layers that hold layers: a network that branches is still a list.

    Skip([...])                       concat(x, inner(x)) along the channels
    Residual([...], shortcut=[...])   inner(x) + shortcut(x)

Both can be nested. What they hold runs on a tape of its own, which is their memo.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from dlmini.checks import settle
from dlmini.nn.conv import interior
from dlmini.nn.layers import Layer, layers_of
from dlmini.nn.tape import Tape


def sum_forward(a, b, y, relu=False):
    """y = a + b, then ReLU if asked. One of them may be y itself."""
    np.add(a, b, out=y)
    if relu:
        np.maximum(y, 0, out=y)


def sum_backward(dy, dx, x=None):
    """dx += dy; and then, if x is given (it came out of a ReLU), dx is kept only where x > 0."""
    dx += dy
    if x is not None:
        dx *= x > 0


def inside(x, border):
    return interior(x, border) if x.ndim == 4 else x


class Holder(Layer):
    """What layers that hold layers have in common: they ask those they hold."""

    looks = False

    @property
    def coins(self):
        return sum(layer.coins for layer in self.layers)

    def __str__(self):
        return f"{type(self).__name__} of {len(self.layers)} layers"

    def held(self, shape):
        return named(self, self.layers, shape)

    def parameters(self, shape):
        return tuple(s for _, layer, got in self.held(shape) for s in layer.parameters(got))

    def begin(self, shape, arrays, key):
        start = 0
        for i, (_, layer, got) in enumerate(self.held(shape)):
            stop = start + len(layer.parameters(got))
            layer.begin(got, arrays[start:stop], (*key, i))
            start = stop

    def statistics(self, shape):
        return sum(layer.statistics(got) for _, layer, got in self.held(shape))

    def flops(self, shape):
        return sum(layer.flops(got) for _, layer, got in self.held(shape))


def named(holder, layers, shape, before=""):
    """Each layer that `holder` holds in a row: its name, itself, and the shape that it gets."""
    found = []
    for i, layer in enumerate(layers):
        found.append((f"{before}{i}", layer, shape))
        shape = output_of(holder, f"{before}{i}", layer, shape)
    return found


def made(holder, layers, shape, before=""):
    """The shape that comes out of a row of layers."""
    for i, layer in enumerate(layers):
        shape = output_of(holder, f"{before}{i}", layer, shape)
    return shape


def output_of(holder, name, layer, shape):
    try:
        return layer.output(shape)
    except ValueError as error:
        raise ValueError(f"in {holder}, layer {name}: {error}") from None


@dataclass(frozen=True)
class Skip(Holder):
    """What went in, beside what came out: concat(x, inner(x)) along the channels.

    The way around a part of the network that works at a lower resolution, so images must come back at their own size.
    Ronneberger et al., U-Net, 2015.
    """

    layers: tuple

    def __post_init__(self):
        settle(self, layers=layers_of(self.layers, "the layers of Skip"))

    @property
    def looks(self):
        return self.layers[-1].looks

    @property
    def spoils(self):
        return self.layers[-1].spoils

    def border(self, shape):
        return self.layers[0].border(shape)

    def output(self, shape):
        inner = made(self, self.layers, shape)
        if inner[:-1] != shape[:-1]:
            raise ValueError(
                f"{self}: {size(shape)} go in and {size(inner)} come out, which cannot be joined; pooling drops odd "
                "rows and columns, so take sizes that every pooling inside can halve, and as many Up as MaxPool"
            )
        return *shape[:-1], shape[-1] + inner[-1]

    def memo(self, images, shape, arena):
        return Tape(self.layers, shape, images, arena)

    def forward(self, ops, p, x, y, memo, mode):
        own = memo.shapes[0][-1]
        y[..., :own] = inside(x, self.border(memo.shapes[0]))
        memo.forward(ops, memo.parts(p), x, y[..., own:], mode)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        own = memo.shapes[0][-1]
        memo.backward(ops, memo.parts(p), memo.parts(g), dy[..., own:], dx)
        if dx is not None:
            self.add_back(ops, x, dy[..., :own], dx, memo.shapes[0])

    def add_back(self, ops, x, dy, dx, shape):
        ops.sum_backward(dy, dx)


def size(shape):
    return f"images of {shape[0]} x {shape[1]}" if len(shape) == 3 else f"rows of shape {shape}"


@dataclass(frozen=True)
class Residual(Holder):
    """What it holds learns the difference: inner(x) + shortcut(x); without a shortcut inner(x) + x.

    He et al., Deep residual learning for image recognition, 2015.
    """

    layers: tuple
    shortcut: tuple = ()

    def __post_init__(self):
        settle(self, layers=layers_of(self.layers, "the layers of Residual"))
        settle(self, shortcut=layers_of(self.shortcut, "the shortcut", least=0))

    @property
    def both(self):
        return self.layers, self.shortcut

    @property
    def coins(self):
        return sum(layer.coins for layers in self.both for layer in layers)

    @property
    def spoils(self):
        return self.layers[-1].spoils

    def held(self, shape):
        return named(self, self.layers, shape) + named(self, self.shortcut, shape, "shortcut ")

    def borders(self, shape):
        """What the two ways want around the image."""
        return [branch[0].border(shape) if branch else (0, 0) for branch in self.both]

    def border(self, shape):
        return tuple(map(max, *self.borders(shape)))

    def output(self, shape):
        inner, short = made(self, self.layers, shape), made(self, self.shortcut, shape, "shortcut ")
        if inner != short:
            raise ValueError(
                f"{self}: {inner} comes out of its layers and {short} out of its shortcut, which cannot be added; "
                "give a shortcut that makes the same shape, such as [Conv2d(channels, 1, stride)]"
            )
        return inner

    def flops(self, shape):
        return super().flops(shape) + prod(self.output(shape))

    def memo(self, images, shape, arena):
        """The tapes of both ways, what comes out of each, and places for gradients that both need.

        Forward the first way writes y and the second a place that is only passing, unless a last layer wants to see on
        the way back what it made: the sum is not it.
        """
        start, out = arena.clock, self.output(shape)
        tapes = [Tape(layers, shape, images, arena) for layers in self.both if layers]
        kept = [arena.kept(images, *out) if layers and layers[-1].looks else None for layers in self.both]
        passing = [out] if self.layers[-1].spoils or self.shortcut else []
        passing += [shape] if self.shortcut else []
        places = (arena.passing(images, *s, start=start, stop=arena.clock + 1) for s in passing)
        return tapes, tuple(kept), tuple(places)

    def ways(self, x, tapes):
        """The image as each way wants it: the larger border is cut down for the other."""
        shape = tapes[0].shapes[0]
        return [inside(x, [a - b for a, b in zip(self.border(shape), own, strict=True)]) for own in self.borders(shape)]

    def deal(self, arrays, tapes):
        """A row of parameters or gradients, dealt out to both ways."""
        cut = tapes[0].cuts[-1][1]
        return [tape.parts(part) for tape, part in zip(tapes, (arrays[:cut], arrays[cut:]), strict=False)]

    def forward(self, ops, p, x, y, memo, mode):
        (tapes, kept, places), parts = memo, self.deal(p, memo[0])
        x, short = self.ways(x, tapes)
        made = y if kept[0] is None else kept[0]
        tapes[0].forward(ops, parts[0], x, made, mode)
        if self.shortcut:
            result = places[0] if kept[1] is None else kept[1]
            tapes[1].forward(ops, parts[1], short, result, mode)
            short = result
        self.add(ops, made, short, y)

    def add(self, ops, made, short, y):
        ops.sum_forward(made, short, y)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        (tapes, _, places), parts, slopes, short = memo, self.deal(p, memo[0]), self.deal(g, memo[0]), dy
        if self.shortcut:
            short = None if dx is None else places[1]
            tapes[1].backward(ops, parts[1], slopes[1], self.apart(dy, self.shortcut, places), short)
        else:
            dy = self.apart(dy, self.layers, places)
        tapes[0].backward(ops, parts[0], slopes[0], dy, dx)
        if dx is not None:
            self.add_back(ops, x, short, dx, tapes[0].shapes[0])

    def apart(self, dy, layers, places):
        """The gradient for the way that reads it first: a copy, if that way would spoil it for the other."""
        if not layers[-1].spoils:
            return dy
        places[0][...] = dy
        return places[0]

    def add_back(self, ops, x, dy, dx, shape):
        ops.sum_backward(dy, dx)
