"""The same networks in other libraries: what a student would use instead. Each is left out when not installed."""

import os
from collections.abc import Callable
from importlib.util import find_spec

import numpy as np

from dlmini import SGD, AvgPool, BatchNorm, Conv2d, Dense, Flatten, MaxPool, Model, ReLU, Residual, Skip, Up

RATE = 1e-4


def ours(model: Model, batch: int) -> Callable:
    """One training step of dlmini: forward, backward, SGD."""
    rng, (*pixels, classes) = np.random.default_rng(0), model.shapes[-1]
    x, y = rng.standard_normal((batch, *model.input)).astype(np.float32), rng.integers(0, classes, (batch, *pixels))
    w, grad, stepper = model.initial(), model.zeros(), SGD(RATE).start(model.size)

    def step():
        model.loss_and_grad(w, x, y, grad)
        stepper.apply(w, grad)

    return step


def numpy_step(model: Model, batch: int) -> Callable:
    return ours(Model(model.layers, model.input, kernels="numpy"), batch)


def torch_step(model: Model, batch: int, channels_last: bool) -> Callable:
    """The same step in PyTorch eager, one thread."""
    import torch

    torch.set_num_threads(1)
    net, (*pixels, classes) = torch_row(model.layers, model.input), model.shapes[-1]
    x = torch.randn(batch, model.input[2], *model.input[:2])
    y = torch.randint(0, classes, (batch, *pixels))
    if channels_last:
        net, x = net.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(net.parameters(), lr=RATE)

    def step():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()

    return step


def torch_row(layers, shape):
    """A row of layers, also of those that hold others."""
    from torch import nn

    found = []
    for layer in layers:
        found.append(torch_layer(layer, shape))
        shape = layer.output(shape)
    return nn.Sequential(*found)


def torch_layer(layer, shape):
    from torch import nn

    if isinstance(layer, Conv2d):
        return nn.Conv2d(shape[2], layer.channels, layer.kernel, layer.stride, layer.border(shape))
    if isinstance(layer, Dense):
        return nn.Linear(shape[0], layer.units)
    if isinstance(layer, Skip | Residual):
        return torch_branch(layer, shape)
    made = {
        ReLU: nn.ReLU,
        Flatten: nn.Flatten,
        MaxPool: lambda: nn.MaxPool2d(layer.size),
        AvgPool: lambda: nn.AdaptiveAvgPool2d(1) if layer.size == "image" else nn.AvgPool2d(layer.size),
        BatchNorm: lambda: nn.BatchNorm2d(shape[-1], layer.epsilon),
        Up: lambda: nn.ConvTranspose2d(shape[2], layer.channels, layer.size, layer.size),
    }
    return made[type(layer)]()


def torch_branch(layer, shape):
    import torch

    class Branch(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch_row(layer.layers, shape)
            self.short = torch_row(getattr(layer, "shortcut", ()), shape)

        def forward(self, x):
            return torch.cat([x, self.inner(x)], 1) if isinstance(layer, Skip) else self.inner(x) + self.short(x)

    return Branch()


def jax_step(model: Model, batch: int) -> Callable:
    """The same step in JAX, jitted, one thread as far as XLA lets itself be told."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    import jax
    import jax.numpy as jnp

    rng = np.random.default_rng(0)
    x = jnp.array(rng.standard_normal((batch, *model.input)), jnp.float32)
    y = jnp.array(rng.integers(0, 10, batch))

    def loss(parameters, x, y):
        scores = jax_forward(model, parameters, x)
        return -jnp.mean(jax.nn.log_softmax(scores)[jnp.arange(batch), y])

    @jax.jit
    def update(parameters):
        slopes = jax.grad(loss)(parameters, x, y)
        return jax.tree.map(lambda p, g: p - RATE * g, parameters, slopes)

    state = [tuple(jnp.array(v) for v in part) for part in model.views(model.initial())]

    def step():
        nonlocal state
        state = jax.block_until_ready(update(state))

    return step


def jax_forward(model, parameters, x):
    import jax
    import jax.numpy as jnp

    for layer, part in zip(model.layers, parameters, strict=True):
        if isinstance(layer, Conv2d):
            padding = [(p, p) for p in layer.border(None)]
            strides, numbers = (layer.stride,) * 2, ("NHWC", "HWIO", "NHWC")
            x = jax.lax.conv_general_dilated(x, part[0], strides, padding, dimension_numbers=numbers) + part[1]
        elif isinstance(layer, Dense):
            x = x @ part[0] + part[1]
        elif isinstance(layer, MaxPool):
            window = (1, layer.size, layer.size, 1)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")
        else:
            x = jnp.maximum(x, 0) if isinstance(layer, ReLU) else x.reshape(len(x), -1)
    return x


def installed(name: str) -> bool:
    return find_spec(name) is not None
