"""What splits of a network send, by formula: grids of P_r x P_c, one weird trick, pictures cut in strips.

P = P_r P_c ranks: P_r of them share every layer by its outputs (model parallel), and P_c such groups have a part of the
batch each (data parallel). With B rows in a step, an input of d numbers and an output of e numbers of a layer, the ring
sends, for each of its |W| weights once and for each row of the group once:

    outputs, forward    (P_r - 1) messages of    B/P_c e / P_r        all-gather: every output to everyone
    inputs, back        2 (P_r - 1) messages of  B/P_c d / P_r        all-reduce; not at the first layer
    weights             2 (P_c - 1) messages of  |W| / (P_r P_c)      all-reduce of this rank's part of the gradient,
                                                                      all layers in one
A message of n bytes takes latency + n / bandwidth. More groups send more weights, larger groups more activations.
Gholami et al., Integrated model, batch, and domain parallelism in training neural networks, 2018.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from dlmini.checks import whole
from dlmini.nn.conv import Conv2d
from dlmini.nn.layers import Dense

FLOAT = 4


class Wire(NamedTuple):
    """Seconds of a message: latency + bytes / bandwidth."""

    latency: float
    bandwidth: float

    def seconds(self, messages: int, numbers: float) -> float:
        return messages * (self.latency + FLOAT * numbers / self.bandwidth)


class LayerCost(NamedTuple):
    """Seconds that a layer's messages take in a step."""

    layer: object
    forward: float = 0.0
    back: float = 0.0
    weights: float = 0.0

    @property
    def seconds(self) -> float:
        return self.forward + self.back + self.weights


def shared(model) -> list[tuple[object, int, int, int]]:
    """(layer, numbers that come in, that go out, weights) of the layers that can be shared."""
    rows = zip(model.layers, model.shapes, model.shapes[1:], model.parts, strict=False)
    return [
        (layer, prod(d), prod(e), sum(map(prod, part)))
        for layer, d, e, part in rows
        if isinstance(layer, Dense | Conv2d)
    ]


def grid_costs(model, batch: int, rows: int, columns: int, wire: Wire) -> list[LayerCost]:
    """Of every layer, on rows x columns = P_r x P_c ranks; batch: B, of all groups together."""
    r, c = whole(rows, "rows", 1), whole(columns, "columns", 1)
    images = whole(batch, "batch", 1) / c
    return [
        LayerCost(
            layer,
            wire.seconds(r - 1, images * e / r),
            wire.seconds(2 * (r - 1), images * d / r) if i else 0.0,
            summed(wire, c, weights / r, i == 0),
        )
        for i, (layer, d, e, weights) in enumerate(shared(model))
    ]


def summed(wire: Wire, ranks: int, numbers: float, first: bool) -> float:
    """A ring all-reduce of one layer's gradient, all layers in one sum: its latencies are booked on the first layer."""
    steps = 2 * (ranks - 1)
    return steps * (wire.latency * first + FLOAT * numbers / ranks / wire.bandwidth)


def shapes_of(ranks: int) -> list[tuple[int, int]]:
    """All P_r x P_c of so many ranks."""
    return [(r, ranks // r) for r in range(1, ranks + 1) if ranks % r == 0]


def best_shape(model, batch: int, ranks: int, wire: Wire) -> tuple[int, int]:
    """The P_r x P_c whose messages take the least time; of equals the one with the smaller groups."""
    return min(shapes_of(ranks), key=lambda shape: total(grid_costs(model, batch, *shape, wire)))


def total(costs: list[LayerCost]) -> float:
    return sum(cost.seconds for cost in costs)


def computing(model, batch: int, ranks: int, flops: float) -> float:
    """Seconds of work of a step, if it is shared out evenly: forward, and twice as much back."""
    return 3.0 * model.flops * batch / ranks / flops


def one_weird_trick(model, batch: int, ranks: int, wire: Wire) -> list[LayerCost]:
    """Convolutions have few weights and large outputs, dense layers the other way round: so split each in its own way.

    Convolutions are data parallel, P x 1 their grid turned round; in front of the first dense layer all rows are
    gathered, and the dense layers are model parallel: every rank has some of their outputs, for the whole batch. Back,
    each rank gets the gradients of its own rows (a scatter of sums). Krizhevsky, One weird trick for parallelizing
    convolutional neural networks, 2014.
    """
    p, found, border = whole(ranks, "ranks", 1), [], True
    for layer, d, e, weights in shared(model):
        if isinstance(layer, Conv2d):
            found.append(LayerCost(layer, weights=summed(wire, p, weights, not found)))
            continue
        gathered = wire.seconds(p - 1, batch * d / p) if border else 0.0
        back = wire.seconds((1 if border else 2) * (p - 1), batch * d / p) if found else 0.0
        found.append(LayerCost(layer, gathered + wire.seconds(p - 1, batch * e / p), back))
        border = False
    return found


def strip_costs(model, batch: int, ranks: int, wire: Wire) -> list[LayerCost]:
    """Domain parallelism: pictures are cut in strips of rows, and every rank has all weights of the convolutions.

    A convolution of height k needs k // 2 rows of each neighbour, forward and back: no more, however large the picture.
    Dense layers are as in one weird trick. Gradients of weights are summed over all ranks.
    """
    p, found, border = whole(ranks, "ranks", 1), [], True
    for (layer, d, e, weights), shape in zip(shared(model), sharing_shapes(model), strict=True):
        if isinstance(layer, Conv2d):
            high = layer.kernel if isinstance(layer.kernel, int) else layer.kernel[0]
            halo = batch * (high // 2) * prod(shape[1:])
            ends = 2 if p > 2 else p - 1  # a strip has two neighbours, but at the ends
            there = wire.seconds(ends, halo) if high > 1 and p > 1 else 0.0
            found.append(LayerCost(layer, there, there if found else 0.0, summed(wire, p, weights, not found)))
            continue
        gathered = wire.seconds(p - 1, batch * d / p) if border else 0.0
        back = wire.seconds((1 if border else 2) * (p - 1), batch * d / p) if found else 0.0
        found.append(LayerCost(layer, gathered + wire.seconds(p - 1, batch * e / p), back))
        border = False
    return found


def sharing_shapes(model) -> list[tuple[int, ...]]:
    """What comes into each layer that can be shared."""
    return [
        shape for layer, shape in zip(model.layers, model.shapes, strict=False) if isinstance(layer, Dense | Conv2d)
    ]
