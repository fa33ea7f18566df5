"""Where to cut a network into stages, so that the slowest is as fast as can be."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from math import prod
from time import perf_counter

import numpy as np

from dlmini.checks import refuse, whole


def borders(model) -> list[int]:
    """Where a network is best cut: before a layer with matrices. What follows it (ReLU, pooling) goes with it."""
    return [i for i, part in enumerate(model.parts) if i and any(len(shape) > 1 for shape in part)]


def balanced(model, stages: int, costs=None) -> tuple[int, ...]:
    """The layers that stages 1, 2, ... begin with: of all ways to cut, one whose dearest stage is cheapest.

    costs: of each layer; by default its FLOPs. Among equals the one that sends the fewest numbers. Cuts lie before
    layers with matrices, or anywhere if there are more stages than those. Cost: stages x layers^2.
    """
    layers, stages = len(model.layers), whole(stages, "stages", 1)
    if stages > layers:
        raise ValueError(
            f"{stages} stages, but the network has {layers} layers: a stage needs one at least, and what is inside a "
            f"layer is not cut; use at most {layers} stages, or share layers (tensor)"
        )
    costs = counted(model) if costs is None else list(costs)
    if len(costs) != layers:
        refuse(ValueError, "costs", costs, f"{layers} numbers, one for each layer")
    places = borders(model) if stages <= len(borders(model)) + 1 else range(1, layers)
    sent = {cut: prod(model.shapes[cut]) for cut in places}

    @cache
    def best(first: int, left: int) -> tuple[float, float, tuple[int, ...]]:
        """(dearest stage, numbers sent, cuts) of the layers from `first` on, in `left` stages."""
        if left == 1:
            return sum(costs[first:]), 0, ()
        found = []
        for cut in (c for c in places if c > first):
            dearest, numbers, cuts = best(cut, left - 1)
            found.append((max(sum(costs[first:cut]), dearest), numbers + sent[cut], (cut, *cuts)))
        return min(found, default=(float("inf"), 0, ()))

    return best(0, stages)[2]


def counted(model) -> list[int]:
    """The FLOPs of each layer."""
    return [layer.flops(shape) for layer, shape in zip(model.layers, model.shapes, strict=False)]


def measured(model, images: int = 32, times: int = 5, singly: bool = False) -> list[float]:
    """Seconds of each layer, forward and back, on this machine: the least of several tries.

    What lies between two good cuts is measured together, as it would run, and booked on its first layer; singly=True:
    every layer alone, for more stages than that.
    """
    x, found = np.random.default_rng(0).random((images, *model.input)).astype(model.dtype), []
    edges = range(len(model.layers) + 1) if singly else (0, *borders(model), len(model.layers))
    for a, b in pairwise(edges):
        part, seconds = model.part(a, b), []
        w, one = part.initial(), part.enter()
        grad, slope = part.zeros(), np.ones((images, *part.shapes[-1]), model.dtype)
        for _ in range(times + 1):
            start = perf_counter()
            y = one.forward(w, x, part.mode((0,)))
            one.backward(w, grad, slope)
            seconds.append(perf_counter() - start)
        found += [min(seconds[1:]), *[0.0] * (b - a - 1)]
        x = y.copy()
    return found


def checked_cuts(cuts, model, stages: int) -> tuple[int, ...]:
    """The user's own cuts: the layers that the second stage and those behind it begin with."""
    if not isinstance(cuts, list | tuple) or len(cuts) != stages - 1:
        refuse(
            ValueError if isinstance(cuts, list | tuple) else TypeError,
            "cuts",
            cuts,
            f"a row of {stages - 1}, the layers that {stages} stages but the first begin with; or None, or 'measured'",
        )
    found = tuple(whole(cut, "a layer in cuts", 1, len(model.layers) - 1) for cut in cuts)
    if any(a >= b for a, b in pairwise(found)):
        refuse(ValueError, "cuts", cuts, "numbers of layers that grow: every stage needs one at least")
    return found
