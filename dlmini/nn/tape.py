"""A run of layers with its memory: every activation between them, and every gradient on the way back.

Each layer writes the interior of an array whose zero border the next layer has asked for, so nothing is ever padded or
copied between layers. Smaller batches use the first rows of the same arrays. What comes in and what goes out belongs to
whoever runs the tape: a pass, or a layer that holds layers.
"""

from itertools import accumulate, pairwise

from dlmini.nn.arena import rows
from dlmini.nn.conv import interior
from dlmini.nn.layers import Flatten

X, Y, DY, DX, MEMO = range(5)  # what a layer is given at each step


class Tape:
    """Arrays for batches of up to `capacity` images through `layers` (plain layers or fused stages)."""

    def __init__(self, layers, shape, capacity, arena):
        self.layers, self.capacity, self.steps = layers, capacity, {}
        self.shapes = [*accumulate(layers, lambda s, layer: layer.output(s), initial=tuple(shape))]
        each = [*zip(layers, self.shapes, strict=False)]
        self.cuts = [*pairwise(accumulate((len(layer.parameters(s)) for layer, s in each), initial=0))]
        self.borders = [layer.border(s) for layer, s in each]
        self.memos, self.times = [], [arena.clock]
        for layer, s in each:
            self.memos.append(layer.memo(capacity, s, arena))
            arena.clock += 1
            self.times.append(arena.clock)
        self._lay_out(arena)

    def _lay_out(self, arena):
        """Arrays between the layers: values, each with the border that its reader wants, and slopes without."""
        self.values, self.slopes = {}, {}
        for i in range(1, len(self.layers)):
            if isinstance(self.layers[i - 1], Flatten) and i > 1:  # the same memory in another shape
                self.values[i] = self.values[i - 1].reshape(self.capacity, -1)
                self.slopes[i] = self.slopes[i - 1]
                self.slopes[i].stop = self.times[i + 1]
            else:
                self.values[i] = arena.kept(self.capacity, *bordered(self.shapes[i], self.borders[i]))
                start, stop = self.times[i - 1], self.times[i + 1]
                self.slopes[i] = arena.passing(self.capacity, *self.shapes[i], start=start, stop=stop)

    def parts(self, arrays):
        """A row of parameters or gradients, dealt out to the layers."""
        return [arrays[a:b] for a, b in self.cuts]

    def begin(self, images):
        """What every layer is given for a batch of so many images; the ends are not ours."""
        if images not in self.steps:
            self.steps[images] = [self._step(i, images) for i in range(len(self.layers))]
        return self.steps[images]

    def _step(self, i, images):
        x, dx = self._value(i, images), self._slope(i, images)
        y = self._value(i + 1, images)
        if y is not None and y.ndim == 4:
            y = interior(y, self.borders[i + 1])
        return [x, y, self._slope(i + 1, images), dx, rows(self.memos[i], images)]

    def _value(self, i, images):
        return rows(self.values.get(i), images)

    def _slope(self, i, images):
        slope = rows(self.slopes.get(i), images)
        return slope if slope is None else slope.reshape(images, *self.shapes[i])

    def forward(self, ops, parts, x, y, mode):
        """From x, bordered as the first layer wants it, to y."""
        steps = self.begin(len(x))
        steps[0][X], steps[-1][Y] = x, y
        for layer, p, step in zip(self.layers, parts, steps, strict=True):
            layer.forward(ops, p, step[X], step[Y], step[MEMO], mode)

    def backward(self, ops, parts, slopes, dy, dx, done=None):
        """From the gradient of y, which may be overwritten, to those of the parameters and, unless None, of x.

        done(i) is told when the gradients of layer i's parameters are written.
        """
        steps = self.begin(len(dy))
        steps[-1][DY], steps[0][DX] = dy, dx
        for i in reversed(range(len(self.layers))):
            x, y, dy, dx, memo = steps[i]
            self.layers[i].backward(ops, parts[i], slopes[i], x, y, dy, dx, memo)
            if done is not None:
                done(i)

    def backward_inputs(self, ops, parts, slopes, dy, dx):
        """The same without the gradients of parameters that can wait (`defers`): those are for `backward_weights`."""
        steps = self.begin(len(dy))
        steps[-1][DY], steps[0][DX] = dy, dx
        for layer, p, g, step in zip(*map(reversed, (self.layers, parts, slopes, steps)), strict=True):
            x, y, dy, dx, memo = step
            if not layer.defers or dx is not None:
                layer.backward(ops, p, None if layer.defers else g, x, y, dy, dx, memo)

    def backward_weights(self, ops, parts, slopes, images):
        """What `backward_inputs` has left; it must be the last that was done with these arrays."""
        for layer, p, g, (x, y, dy, _, memo) in zip(self.layers, parts, slopes, self.begin(images), strict=True):
            if layer.defers:
                layer.backward(ops, p, g, x, y, dy, None, memo)


def bordered(shape, border):
    """The shape of an image together with its border."""
    return (shape[0] + 2 * border[0], shape[1] + 2 * border[1], shape[2]) if len(shape) == 3 else shape
