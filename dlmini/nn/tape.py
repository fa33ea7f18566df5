"""The memory of one pass through a network: every activation and every gradient, allocated once.

Each layer writes the interior of an array whose zero border the next layer has asked for, so nothing is ever padded or
copied between layers. Smaller batches use the first rows of the same arrays.
"""

from dlmini.nn.conv import interior
from dlmini.nn.layers import Flatten


class Tape:
    """Arrays for batches of up to `capacity` images through `layers` (plain layers or fused stages)."""

    def __init__(self, layers, shape, capacity, zeros):
        self.layers, self.capacity, self.shapes, self.views = layers, capacity, [tuple(shape)], {}
        for layer in layers:
            self.shapes.append(layer.output(self.shapes[-1]))
        each = list(zip(layers, self.shapes, strict=False))
        self.owners = [bool(layer.parameters(s)) for layer, s in each]
        self.borders = [layer.border(s) for layer, s in each] + [(0, 0)]
        self.memos = [layer.memo(capacity, s, zeros) for layer, s in each]
        self.values = [self._bordered(s, b, zeros) for s, b in zip(self.shapes, self.borders, strict=True)]
        self.slopes = [zeros(capacity, *s) for s in self.shapes]
        for i, layer in enumerate(layers):
            if isinstance(layer, Flatten):  # the same memory in another shape
                self.values[i + 1] = self.values[i].reshape(capacity, -1)
                self.slopes[i + 1] = self.slopes[i].reshape(capacity, -1)

    def _bordered(self, shape, border, zeros):
        if len(shape) != 3:
            return zeros(self.capacity, *shape)
        return zeros(self.capacity, shape[0] + 2 * border[0], shape[1] + 2 * border[1], shape[2])

    def load(self, x):
        """Put a batch at the beginning; returns one (x, y, dy, dx, memo) per layer."""
        images = len(x)
        if images not in self.views:
            self.views[images] = [self._step(i, images) for i in range(len(self.layers))]
        steps = self.views[images]
        place = self._inside(0, images)
        fits = self.borders[0] == (0, 0) and x.flags.c_contiguous and x.dtype == place.dtype
        if fits and not isinstance(self.layers[0], Flatten):
            steps[0] = (x, *steps[0][1:])  # used where it lies
        else:
            place[...] = x
            steps[0] = (self.values[0][:images], *steps[0][1:])
        return steps

    def _step(self, i, images):
        memo = self.memos[i]
        if memo is not None:
            memo = tuple(m[:images] for m in memo) if isinstance(memo, tuple) else memo[:images]
        dx = self.slopes[i][:images] if i else None
        return self.values[i][:images], self._inside(i + 1, images), self.slopes[i + 1][:images], dx, memo

    def _inside(self, i, images):
        array = self.values[i][:images]
        return interior(array, self.borders[i]) if array.ndim == 4 else array
