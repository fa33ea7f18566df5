"""Backpropagation agrees with central differences in float64, layer by layer and network by network."""

import numpy as np
import pytest

from dlmini import (
    ZOO,
    AvgPool,
    BatchNorm,
    Conv2d,
    Dense,
    Dropout,
    Flatten,
    MaxPool,
    MeanSquares,
    Model,
    ReLU,
    Residual,
    Skip,
    Tanh,
    Up,
    gradcheck,
    unet,
)

LAYERS = {
    "dense": [Flatten(), Dense(7)],
    "relu": [Flatten(), Dense(9), ReLU(), Dense(3)],
    "tanh": [Conv2d(3, 3), Tanh()],
    "dropout": [Flatten(), Dense(9), Dropout(0.4), Dense(3)],
    "dropout first": [Dropout(0.3), Conv2d(2, 3)],
    "convolution": [Conv2d(4, 3)],
    "two convolutions": [Conv2d(4, 3, padding="same"), Conv2d(3, 2)],
    "stride": [Conv2d(3, 2), Conv2d(4, 3, stride=2, padding=1)],
    "uneven kernel": [Conv2d(3, (2, 3), padding=(1, 0)), Conv2d(2, (1, 4))],
    "max pool": [Conv2d(3, 2), MaxPool(2)],
    "overlapping max pool": [Conv2d(3, 2), MaxPool(3, 2)],
    "max pool with gaps": [Conv2d(3, 2), MaxPool(1, 2)],
    "average pool": [Conv2d(3, 2), AvgPool(2)],
    "overlapping average pool": [Conv2d(3, 2), AvgPool(3, 1)],
    "pool after relu": [Conv2d(8, 3, padding="same"), ReLU(), MaxPool(2)],
    "mean of the image": [Conv2d(3, 2), Tanh(), AvgPool("image")],
    "batch norm": [Conv2d(3, 2), BatchNorm(), Tanh()],
    "batch norm of rows": [Flatten(), Dense(6), BatchNorm(), ReLU()],
    "batch norm first": [BatchNorm(1e-3), Conv2d(3, 2)],
    "up": [Conv2d(3, 2), Up(4)],
    "up three times": [Tanh(), Up(2, 3), Conv2d(2, 3)],
    "skip": [Skip([Conv2d(3, 3, padding="same"), Tanh()]), Conv2d(2, 2)],
    "skip of rows": [Flatten(), Dense(5), Skip([Dense(4), ReLU()]), Dense(3)],
    "residual": [Residual([Conv2d(2, 3, padding="same"), ReLU()]), Conv2d(2, 2)],
    "residual of rows": [Flatten(), Dense(5), Residual([Dense(5), ReLU()])],
    "shortcut": [Residual([Conv2d(4, 3, 2, 1), Tanh(), Conv2d(4, 3, padding="same")], [Conv2d(4, 1, 2), BatchNorm()])],
    "shortcut with a wide border": [Residual([Conv2d(3, 1)], [Conv2d(3, 5, padding="same"), ReLU()]), ReLU()],
    "dropout inside": [Conv2d(3, 2), Residual([Dropout(0.3), Conv2d(3, 1), Skip([Dropout(0.5)]), Conv2d(3, 1)])],
    "three deep": [
        Residual(
            [Skip([Residual([Conv2d(2, 3, padding="same"), BatchNorm(), ReLU()]), MaxPool(1)]), Conv2d(2, 3, 1, 1)]
        ),
        Skip([Skip([Skip([Conv2d(1, 1), Tanh()])])]),
    ],
}


@pytest.mark.parametrize("layers", LAYERS.values(), ids=LAYERS.keys())
def test_gradient_of_every_layer_agrees_with_central_differences(layers):
    model = Model([*layers, Flatten(), Dense(4)], (7, 8, 2))
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((3, 7, 8, 2)), rng.integers(0, 4, 3)
    assert gradcheck(model, model.initial(3), x, y, sample=200) < 1e-6


def test_gradient_of_mean_squares_agrees_with_central_differences():
    model = Model([Conv2d(3, 3), Tanh(), Flatten(), Dense(2)], (6, 6, 1), MeanSquares())
    rng = np.random.default_rng(2)
    assert gradcheck(model, model.initial(), rng.standard_normal((4, 6, 6, 1)), rng.standard_normal((4, 2))) < 1e-6


def test_gradient_of_cross_entropy_per_pixel_agrees_with_central_differences():
    model = Model([Conv2d(5, 3, padding="same"), ReLU(), Conv2d(3, 1)], (6, 5, 2))
    rng = np.random.default_rng(3)
    x, masks = rng.standard_normal((2, 6, 5, 2)), rng.integers(0, 3, (2, 6, 5))
    assert gradcheck(model, model.initial(), x, masks, sample=150) < 1e-6


@pytest.mark.parametrize("build", ZOO.values(), ids=ZOO.keys())
def test_gradient_of_every_network_of_the_zoo_agrees_with_central_differences(build):
    """A U-Net has so many ReLUs that a step of 1e-5 takes some of them over their kink."""
    model, step = (build(4, input=(64, 64, 3)), 1e-6) if build is unet else (build(), 1e-5)
    rng = np.random.default_rng(4)
    x, y = rng.standard_normal((2, *model.input)), rng.integers(0, model.shapes[-1][-1], (2, *model.shapes[-1][:-1]))
    assert gradcheck(model, model.initial(), x, y, sample=25, step=step) < 1e-6


def test_gradient_of_one_image_through_a_network_with_batch_norm_agrees_with_central_differences():
    model = unet(4, 2, (8, 12, 2), 3)
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((1, 8, 12, 2)), rng.integers(0, 3, (1, 8, 12))
    assert gradcheck(model, model.initial(), x, y, sample=150) < 1e-6


def test_gradcheck_notices_a_wrong_gradient():
    class Wrong(Dense):
        def backward(self, ops, p, g, x, y, dy, dx, memo):
            super().backward(ops, p, g, x, y, dy, dx, memo)
            g[0][...] *= 1.01

    model = Model([Flatten(), Wrong(4)], (3, 3, 1), kernels="numpy")
    rng = np.random.default_rng(5)
    assert gradcheck(model, model.initial(), rng.standard_normal((2, 3, 3, 1)), np.array([0, 3])) > 1e-3
