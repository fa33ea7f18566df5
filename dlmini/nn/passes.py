"""One pass through a network, forward and back, in memory of its own.

A pass belongs to one user at a time, and holds one batch: who has several in flight takes several. A model lends passes
to its callers. A pass chooses between the plain layers and the fused stages, keeps the tape, and remembers the views of
the vectors it was given last.
"""

from types import SimpleNamespace

import numpy as np

from dlmini.nn import ops
from dlmini.nn.arena import Arena, rows
from dlmini.nn.conv import interior
from dlmini.nn.modes import Predicting
from dlmini.nn.tape import Tape, bordered


def functions(model):
    """What the model computes with: the library's functions, and its own pieces in the place of some."""
    chosen = ops.compiled() if model.kernels == "numba" else ops.plain()
    return SimpleNamespace(**vars(chosen) | model.pieces) if model.pieces else chosen


class Pass:
    """Runs the layers of `model` on a batch. What `forward` leaves is there until the next one: `backward` reads it.

    A batch that fits is used where it lies, so leave it alone until then. With `inputs` the way back ends with the
    gradient of the batch itself. With `defer` it may be gone in two ways, `backward_inputs` and later
    `backward_weights`: every gradient on the way is kept in between.
    """

    def __init__(self, model, inputs=False, defer=False):
        self.model, self.tape, self.known, self.ops = model, None, {}, functions(model)
        self.inputs, self.defer = inputs, defer
        if model.kernels == "numba":
            from dlmini.nn.fuse import stages
            from dlmini.nn.kernels.memory import buffer

            self.stages, self.zeros = stages(model.layers), buffer
        else:
            self.stages, self.zeros = list(model.layers), self.plain_zeros

    def plain_zeros(self, *shape, dtype=None):
        return np.zeros(shape, dtype or self.model.dtype)

    def lay_out(self, images):
        """Memory for batches of up to so many images."""
        self.arena = arena = Arena(self.zeros, share=not self.defer)
        self.tape = tape = Tape(self.stages, self.model.input, images, arena)
        self.border, shape = tape.borders[0], tape.shapes[0]
        self.places = (
            arena.kept(images, *bordered(shape, self.border)),
            arena.kept(images, *tape.shapes[-1]),
            arena.passing(images, *tape.shapes[-1], start=tape.times[-2], stop=tape.times[-1]),
            arena.passing(images, *shape, start=0, stop=tape.times[1]) if self.inputs else None,
        )
        arena.settle()
        self.known.clear()

    def views(self, name, vector):
        """The parameters of each stage, as views of a flat vector; remembered while the vector stays the same."""
        if name not in self.known or self.known[name][0] is not vector:
            arrays = [array for part in self.model.views(vector) for array in part]
            self.known[name] = vector, self.tape.parts(arrays)
        return self.known[name][1]

    def load(self, x, place):
        """A batch as the first layer wants it: where it lies, or in a place of ours."""
        if self.border == (0, 0) and x.flags.c_contiguous and x.dtype == place.dtype:
            return x
        inside = interior(place, self.border) if place.ndim == 4 else place
        inside[...] = x
        return place

    def forward(self, w, x, mode=None):
        """Run the network on a batch, in a mode of modes.py; predicting if none is given."""
        if self.tape is None or self.tape.capacity < len(x):
            self.lay_out(len(x))
        place, scores, self.slope, self.input_slope = rows(self.places, len(x))
        self.tape.forward(self.ops, self.views("w", w), self.load(x, place), scores, mode or Predicting())
        return scores

    def backward(self, w, grad, slope=None, ready=None):
        """Go back from the gradient of the scores to the gradient of every parameter; returns the batch's, if wanted.

        slope: the gradient of the scores; by default what the loss has written into `self.slope`.
        ready(low, share): told whenever grad[low:] is final, with the share of the whole work that is done.
        """
        if slope is not None:
            self.slope[...] = slope
        views = self.views("w", w), self.views("grad", grad)
        self.tape.backward(self.ops, *views, self.slope, self.input_slope, ready and self.teller(ready))
        return self.input_slope

    def backward_inputs(self, w, grad, slope=None):
        """Go back to the batch's gradient alone. Of `grad` only what cannot wait is written (see Layer.defers)."""
        if slope is not None:
            self.slope[...] = slope
        self.tape.backward_inputs(self.ops, self.views("w", w), self.views("grad", grad), self.slope, self.input_slope)
        return self.input_slope

    def backward_weights(self, w, grad):
        """What `backward_inputs` has left of the gradient."""
        self.tape.backward_weights(self.ops, self.views("w", w), self.views("grad", grad), len(self.slope))

    def teller(self, ready):
        marks, cuts = self.model.milestones, self.tape.cuts

        def done(i):
            if cuts[i][0] < cuts[i][1]:
                ready(*marks[cuts[i][0]])

        return done

    def loss_and_grad(self, w, x, y, grad, mode, images, ready=None):
        """The batch's share of a mean loss over `images` images, and its gradient."""
        scores = self.forward(w, x, mode)
        loss = self.model.loss(self.ops, scores, y, self.slope, images)
        self.backward(w, grad, ready=ready)
        return loss
