"""Stages: layers that the compiled kernels do in one pass.

    Conv2d [+ ReLU [+ MaxPool(2)]]          the full-resolution map of a pooled convolution is never stored
    Conv2d + BatchNorm [+ ReLU]             the way back needs no array of its own: it overwrites what forward kept
    BatchNorm + ReLU;  Dense [+ ReLU];  Residual [+ ReLU]
A ReLU's derivative is free when the next stage multiplies it in while it writes the gradient anyway: that stage is said
to *gate*, and the one before it finds its gradient *masked*. What a layer holds is fused too. Fusing changes speed,
never results.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dlmini.nn.branches import Residual, Skip, inside
from dlmini.nn.conv import Conv2d
from dlmini.nn.layers import Dense, Layer, ReLU
from dlmini.nn.norm import BatchNorm
from dlmini.nn.pool import MaxPool
from dlmini.nn.up import Up


class Stage(Layer):
    """What stages have in common: the shapes of the layer they are made of."""

    relu = gate = masked = False
    gates = True  # whether it can multiply in the derivative of the ReLU before it

    @property
    def wants_gate(self):
        """Whether its gradient has to pass its ReLU's derivative, and could come so already."""
        return self.relu

    @property
    def spoils(self):
        return self.wants_gate and not self.masked

    @property
    def looks(self):
        return self.spoils

    def parameters(self, shape):
        return self.layer.parameters(shape)

    def output(self, shape):
        return self.layer.output(shape)

    def border(self, shape):
        return self.layer.border(shape)


@dataclass(frozen=True)
class ConvStage(Stage):
    """A convolution, with the ReLU and the 2x2 max-pooling behind it where there are any."""

    layer: Conv2d
    relu: bool = False
    pool: bool = False
    gate: bool = False
    masked: bool = False
    defers: ClassVar = True

    @property
    def wants_gate(self):
        return self.relu and not self.pool

    def output(self, shape):
        shape = self.layer.output(shape)
        return MaxPool(2).output(shape) if self.pool else shape

    def memo(self, images, shape, arena):
        """When pooling: where each maximum came from, and the gradient of the full map."""
        if not self.pool:
            return None
        H, W, C = self.layer.output(shape)
        return arena.kept(images, H // 2, W // 2, C, dtype=np.uint8), arena.passing(images, H, W, C)

    def forward(self, ops, p, x, y, memo, mode):
        if self.pool:
            ops.conv_pool_forward(x, *p, y, memo[0])
        else:
            ops.conv_forward(x, *p, y, self.layer.stride, self.relu)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if self.pool:
            which, full = memo
            ops.unpool(dy, which, full)
            dy = full
        elif self.relu and not self.masked:
            ops.relu_backward(y, dy, dy)
        ops.conv_backward(x, p[0], dy, dx, *g or (None, None), self.layer.stride, self.border(None), self.gate)


@dataclass(frozen=True)
class ConvNormStage(Stage):
    """A convolution and its normalisation, with the ReLU behind them where there is one.

    The ReLU's derivative is decided anew from what the convolution gave, so that nobody need gate it.
    """

    layer: Conv2d
    norm: BatchNorm
    relu: bool = False
    gate: bool = False
    wants_gate = False

    def parameters(self, shape):
        return *self.layer.parameters(shape), *self.norm.parameters(self.layer.output(shape))

    def memo(self, images, shape, arena):
        out = self.layer.output(shape)
        return arena.kept(images, *out), self.norm.memo(images, out, arena)

    def forward(self, ops, p, x, y, memo, mode):
        (w, b, gain, shift), (full, seen) = p, memo
        ops.conv_forward(x, w, b, full, self.layer.stride)
        self.norm.measure(ops, full, seen, mode)
        ops.normalise(full, *seen, gain, shift, y, self.norm.epsilon, self.relu)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        (w, _, gain, shift), (dw, db, dgain, dshift), (full, seen) = p, g, memo
        ops.normalise_backward(full, *seen, gain, shift, dy, full, dgain, dshift, self.norm.epsilon, self.relu)
        ops.conv_backward(x, w, full, dx, dw, db, self.layer.stride, self.border(None), self.gate)


@dataclass(frozen=True)
class NormStage(Stage):
    """A normalisation, with the ReLU behind it where there is one."""

    layer: BatchNorm
    relu: bool = False
    gate: bool = False
    wants_gate = False

    def memo(self, images, shape, arena):
        return self.layer.memo(images, shape, arena)

    def forward(self, ops, p, x, y, memo, mode):
        self.layer.measure(ops, x, memo, mode)
        ops.normalise(x, *memo, *p, y, self.layer.epsilon, self.relu)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        ops.normalise_backward(x, *memo, *p, dy, dx, *g, self.layer.epsilon, self.relu, self.gate)


@dataclass(frozen=True)
class DenseStage(Stage):
    """A dense layer, with the ReLU behind it where there is one."""

    layer: Dense
    relu: bool = False
    gate: bool = False
    masked: bool = False
    defers: ClassVar = True

    def forward(self, ops, p, x, y, memo, mode):
        ops.dense_forward(x, *p, y, self.relu)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if self.relu and not self.masked:
            ops.relu_backward(y, dy, dy)
        ops.dense_backward(x, p[0], dy, dx, *g or (None, None), self.gate)


@dataclass(frozen=True)
class UpStage(Stage):
    """A transposed convolution that may gate."""

    layer: Up
    gate: bool = False

    def forward(self, ops, p, x, y, memo, mode):
        ops.up_forward(x, *p, y)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        ops.up_backward(x, p[0], dy, dx, *g, self.gate)


@dataclass(frozen=True)
class SkipStage(Skip):
    """A Skip of stages that may gate."""

    gate: bool = False
    gates, wants_gate = True, False

    def add_back(self, ops, x, dy, dx, shape):
        ops.sum_backward(dy, dx, inside(x, self.border(shape)) if self.gate else None)


@dataclass(frozen=True)
class ResidualStage(Residual):
    """A Residual of stages that may gate, with the ReLU behind it where there is one."""

    relu: bool = False
    gate: bool = False
    masked: bool = False
    gates = True

    @property
    def wants_gate(self):
        return self.relu

    @property
    def looks(self):
        return self.relu and not self.masked

    @property
    def spoils(self):
        return super().spoils or self.looks

    def add(self, ops, made, short, y):
        ops.sum_forward(made, short, y, self.relu)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if self.relu and not self.masked:
            ops.relu_backward(y, dy, dy)
        super().backward(ops, p, g, x, y, dy, dx, memo)

    def add_back(self, ops, x, dy, dx, shape):
        ops.sum_backward(dy, dx, inside(x, self.border(shape)) if self.gate else None)


def stages(layers):
    """The same network as fused stages."""
    rest, done = list(layers), []

    def follows(*kinds):
        """Take the next layer, if it is one of these."""
        return rest.pop(0) if rest and any(type(rest[0]) is type(k) and rest[0] == k for k in kinds) else None

    while rest:
        layer = rest.pop(0)
        if type(layer) is Conv2d:
            norm = rest.pop(0) if rest and type(rest[0]) is BatchNorm else None
            relu = follows(ReLU()) is not None
            if norm:
                layer = ConvNormStage(layer, norm, relu)
            else:
                layer = ConvStage(layer, relu, relu and poolable(layer) and bool(follows(MaxPool(2), MaxPool(2, 2))))
        elif type(layer) in SIMPLE:
            layer = SIMPLE[type(layer)](layer, follows(ReLU()) is not None)
        elif type(layer) is Up:
            layer = UpStage(layer)
        elif type(layer) is Skip:
            layer = SkipStage(stages(layer.layers))
        elif type(layer) is Residual:
            layer = ResidualStage(stages(layer.layers), stages(layer.shortcut), follows(ReLU()) is not None)
        done.append(layer)
    return gated(done)


SIMPLE = {Dense: DenseStage, BatchNorm: NormStage}


def poolable(conv):
    return conv.channels % 8 == 0 and conv.stride == 1


def gated(stages):
    """Let each stage that can multiply in the derivative of the ReLU before it."""
    for i in range(1, len(stages)):
        before, here = stages[i - 1], stages[i]
        if getattr(before, "wants_gate", False) and getattr(here, "gates", False):
            stages[i - 1], stages[i] = replace(before, masked=True), replace(here, gate=True)
    return stages
