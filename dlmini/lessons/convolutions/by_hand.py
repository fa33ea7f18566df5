"""Lesson 02: filters made by hand, the matrix of a convolution, its adjoint, its tiles; and a network that learns."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from dlmini.data import Dataset, stream
from dlmini.nn import Conv2d, Dense, Flatten, MaxPool, Model, ReLU, ops
from dlmini.nn.kernels.points import filter_matrix, input_matrix, output_matrix
from dlmini.optim import Momentum

DRAW = 201  # the purpose of random images and filters

BY_HAND = {
    "vertical edges": [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
    "horizontal edges": [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
    "blur": [[1 / 9] * 3] * 3,
    "sharpen": [[0, -1, 0], [-1, 5, -1], [0, -1, 0]],
}


def filtered(image: np.ndarray, filters: dict = BY_HAND) -> dict[str, np.ndarray]:
    """Each filter's map of one grey image [H, W]."""
    w = np.array(list(filters.values()), np.float32).transpose(1, 2, 0)[:, :, None, :]
    maps = convolve(image[None, :, :, None].astype(np.float32), w)[0]
    return {name: maps[:, :, k] for k, name in enumerate(filters)}


def convolve(x: np.ndarray, w: np.ndarray, stride: int = 1) -> np.ndarray:
    """The library's plain forward function, without bias; any float type."""
    (N, H, W, _), (KH, KW, _, Co) = x.shape, w.shape
    y = np.empty((N, (H - KH) // stride + 1, (W - KW) // stride + 1, Co), x.dtype)
    ops.plain().conv_forward(x, w, np.zeros(Co, x.dtype), y, stride)
    return y


def as_matrix(w: np.ndarray, shape: tuple[int, int, int]) -> np.ndarray:
    """The matrix A with conv(x) = A x, for images of this shape: column k is the map of pixel k alone."""
    pixels = np.eye(prod(shape)).reshape(-1, *shape)
    return convolve(pixels, w.astype(np.float64)).reshape(prod(shape), -1).T


def max_pooled(x: np.ndarray, dy: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """2 x 2 max-pooling of one channel [H, W] and back: y, which cell won, and dx."""
    y, dx = np.empty((1, *dy.shape, 1)), np.empty((1, *x.shape, 1))
    which = np.empty(y.shape, np.uint8)
    ops.plain().maxpool_forward(x[None, :, :, None], y, which)
    ops.plain().maxpool_backward(dy[None, :, :, None], which, dx)
    return y[0, :, :, 0], which[0, :, :, 0], dx[0, :, :, 0]


def twins_apart(x, w, b, y) -> float:
    """The compiled convolution against the plain one: the largest difference, relative to the largest number."""
    truth, found = np.empty_like(y), np.empty_like(y)
    ops.plain().conv_forward(x, w, b, truth)
    ops.compiled().conv_forward(x, w, b, found)
    return float(np.abs(found - truth).max() / np.abs(truth).max())


class Pair(NamedTuple):
    """Two numbers that a law says are one."""

    left: float
    right: float


def adjoints(seed: int = 0, stride: int = 1) -> dict[str, Pair]:
    """The inner products of the layer's three laws, on random arrays in float64."""
    draw, plain = np.random.default_rng([seed, DRAW]), ops.plain()
    x, w = draw.standard_normal((3, 9, 8, 4)), draw.standard_normal((3, 3, 4, 5))
    y = convolve(x, w, stride)
    dy, dx, dw, db = draw.standard_normal(y.shape), np.empty_like(x), np.empty_like(w), np.empty(5)
    plain.conv_backward(x, w, dy, dx, dw, db, stride)
    pooled, which, back = np.empty((3, 4, 4, 4)), np.empty((3, 4, 4, 4), np.uint8), np.empty_like(x)
    plain.maxpool_forward(x, pooled, which)
    slopes = draw.standard_normal(pooled.shape)
    plain.maxpool_backward(slopes, which, back)
    return {
        "input": Pair(float(np.vdot(y, dy)), float(np.vdot(x, dx))),
        "filter": Pair(float(np.vdot(y, dy)), float(np.vdot(w, dw))),
        "pooling": Pair(float(np.vdot(pooled, slopes)), float(np.vdot(x, back))),
    }


def shifted_apart(seed: int = 0) -> float:
    """Shift the picture, then filter; or filter, then shift the map: the largest difference, on whole numbers."""
    draw = np.random.default_rng([seed, DRAW])
    x, w = (draw.integers(-9, 10, shape).astype(np.float64) for shape in ((1, 20, 20, 3), (5, 5, 3, 4)))
    return float(np.abs(convolve(x[:, 2:, 1:], w) - convolve(x, w)[:, 2:, 1:]).max())


# ---- Winograd ----


def winograd_tile(seed: int = 0, taps: int = 3) -> tuple[Pair, int, int]:
    """One tile of 4 x 4 outputs by definition and by Winograd: a sum of its outputs; how many products."""
    draw, n = np.random.default_rng([seed, DRAW]), taps + 3
    d, g = draw.standard_normal((n, n)), draw.standard_normal((taps, taps))
    B, G, A = (np.array(f(taps), np.float64) for f in (input_matrix, filter_matrix, output_matrix))
    product = (G @ g @ G.T) * (B @ d @ B.T)
    weights = draw.standard_normal((4, 4))
    y, truth = A @ product @ A.T, convolve(d[None, :, :, None], g[:, :, None, None])[0, :, :, 0]
    return Pair(float((weights * truth).sum()), float((weights * y).sum())), product.size, truth.size * g.size


# ---- a network that learns ----


class Glimpse(NamedTuple):
    """A network after so many batches."""

    step: int
    loss: float  # mean since the last glimpse
    accuracy: float  # on the test set
    w: np.ndarray  # a copy


def small_net(channels: int = 8) -> Model:
    """Two convolutions for 28 x 28 grey images; the first has few filters, so that one can look at all of them."""
    layers = [Conv2d(channels, 5), ReLU(), MaxPool(2), Conv2d(2 * channels, 5), ReLU(), MaxPool(2)]
    return Model([*layers, Flatten(), Dense(10)], (28, 28, 1))


def glimpses(
    model: Model,
    train: Dataset,
    test: Dataset,
    steps: int,
    every: int,
    rate: float = 0.03,
    batch: int = 50,
    frozen: int = 0,
) -> Iterator[Glimpse]:
    """Learn, and look every so many steps, first before the first. The first `frozen` parameters stay as they are."""
    w, grad, stepper = model.initial(0), model.zeros(), Momentum(rate).start(model.size)
    x, y = test.scaled().x, test.y
    found, losses = model.evaluate(w, x, y), []
    yield Glimpse(0, found["loss"], found["accuracy"], w.copy())
    for step, (rows, labels, key) in zip(range(1, steps + 1), stream(train, batch, reuse=True), strict=False):
        losses.append(model.loss_and_grad(w, rows, labels, grad, key))
        grad[:frozen] = 0
        stepper.apply(w, grad)
        if step % every == 0 or step == steps:
            yield Glimpse(step, float(np.mean(losses)), model.evaluate(w, x, y)["accuracy"], w.copy())
            losses.clear()


def moved(model: Model, before: np.ndarray, after: np.ndarray) -> dict[str, float]:
    """How far the weights of each layer have gone from where they began, relative to how long they were then."""
    layers = zip(model.layers, model.views(before), model.views(after), strict=True)
    return {repr(layer): float(np.linalg.norm(b[0] - a[0]) / np.linalg.norm(a[0])) for layer, a, b in layers if a}


def feature_maps(model: Model, w: np.ndarray, images: np.ndarray, layers: int = 2) -> np.ndarray:
    """What comes out of the first layers. Their parameters are the beginning of the vector."""
    front = Model(model.layers[:layers], model.input)
    return front.predict(w[: front.size], images)
