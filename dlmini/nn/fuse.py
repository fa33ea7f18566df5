"""Stages: layers that the compiled kernels do in one pass.

    Conv2d [+ ReLU [+ MaxPool(2)]]          the full-resolution map of a pooled convolution is never stored
    Dense [+ ReLU]
A ReLU's derivative is free when the next stage multiplies it in while it writes the gradient anyway: that stage is said
to *gate*, and the one before it finds its gradient *masked*. Fusing changes speed, never results.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from dlmini.nn.conv import Conv2d
from dlmini.nn.layers import Dense, Layer, ReLU
from dlmini.nn.pool import MaxPool


@dataclass(frozen=True)
class ConvStage(Layer):
    """A convolution, with the ReLU and the 2x2 max-pooling behind it where there are any."""

    conv: Conv2d
    relu: bool = False
    pool: bool = False
    gate: bool = False
    masked: bool = False
    defers: ClassVar = True

    def parameters(self, shape):
        return self.conv.parameters(shape)

    def output(self, shape):
        shape = self.conv.output(shape)
        return MaxPool(2).output(shape) if self.pool else shape

    def border(self, shape):
        return self.conv.border(shape)

    def memo(self, images, shape, arena):
        """When pooling: where each maximum came from, and the gradient of the full map."""
        if not self.pool:
            return None
        H, W, C = self.conv.output(shape)
        return arena.kept(images, H // 2, W // 2, C, dtype=np.uint8), arena.passing(images, H, W, C)

    def forward(self, ops, p, x, y, memo, mode):
        if self.pool:
            ops.conv_pool_forward(x, *p, y, memo[0])
        else:
            ops.conv_forward(x, *p, y, self.conv.stride, self.relu)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if self.pool:
            which, full = memo
            ops.unpool(dy, which, full)
            dy = full
        elif self.relu and not self.masked:
            ops.relu_backward(y, dy, dy)
        ops.conv_backward(x, p[0], dy, dx, *g or (None, None), self.conv.stride, self.border(None), self.gate)


@dataclass(frozen=True)
class DenseStage(Layer):
    """A dense layer, with the ReLU behind it where there is one."""

    dense: Dense
    relu: bool = False
    gate: bool = False
    masked: bool = False
    defers: ClassVar = True

    def parameters(self, shape):
        return self.dense.parameters(shape)

    def output(self, shape):
        return self.dense.output(shape)

    def forward(self, ops, p, x, y, memo, mode):
        ops.dense_forward(x, *p, y, self.relu)

    def backward(self, ops, p, g, x, y, dy, dx, memo):
        if self.relu and not self.masked:
            ops.relu_backward(y, dy, dy)
        ops.dense_backward(x, p[0], dy, dx, *g or (None, None), self.gate)


def stages(layers):
    """The same network as fused stages."""
    rest, done = list(layers), []
    while rest:
        layer = rest.pop(0)
        if isinstance(layer, Conv2d | Dense):
            relu = bool(rest) and isinstance(rest[0], ReLU)
            rest = rest[1:] if relu else rest
            if isinstance(layer, Dense):
                layer = DenseStage(layer, relu)
            else:
                pool = relu and poolable(layer) and rest[:1] in ([MaxPool(2)], [MaxPool(2, 2)])
                rest = rest[1:] if pool else rest
                layer = ConvStage(layer, relu, pool)
        done.append(layer.fuse(stages))
    return gated(done)


def poolable(conv):
    return conv.channels % 8 == 0 and conv.stride == 1


def gated(stages):
    """Let each stage that can multiply in the derivative of the ReLU before it."""
    for i in range(1, len(stages)):
        before, here = stages[i - 1], stages[i]
        both = isinstance(before, ConvStage | DenseStage) and isinstance(here, ConvStage | DenseStage)
        if both and before.relu and not getattr(before, "pool", False):
            stages[i - 1], stages[i] = replace(before, masked=True), replace(here, gate=True)
    return stages
