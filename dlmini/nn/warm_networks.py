"""Compile every kernel of nn and optim once, or load them from the cache: before workers start, before a lecture."""

import numpy as np

from dlmini.nn.branches import Residual, Skip
from dlmini.nn.conv import Conv2d
from dlmini.nn.layers import Dense, Dropout, Flatten, ReLU, Tanh
from dlmini.nn.losses import MeanSquares
from dlmini.nn.model import Model
from dlmini.nn.norm import BatchNorm
from dlmini.nn.pool import AvgPool, MaxPool
from dlmini.nn.up import Up

SAMPLER = [
    [Conv2d(8, 3, padding="same"), ReLU(), Conv2d(8, 3, padding="same"), ReLU(), Conv2d(8, 3), ReLU(), MaxPool(2)],
    [Conv2d(8, 5), ReLU(), MaxPool(2), Conv2d(8, 3, stride=2), Tanh(), Dropout(0.1)],
    [Conv2d(3, 3), ReLU(), MaxPool(2), AvgPool(2), Tanh()],
    [
        *(
            Conv2d(8, 3, padding="same"),
            BatchNorm(),
            ReLU(),
            Skip([MaxPool(2), Conv2d(8, 1), ReLU(), Up(8)]),
            BatchNorm(),
        ),
        *(Residual([Conv2d(16, 3, padding="same"), ReLU()]), ReLU(), Conv2d(8, 1), ReLU(), AvgPool("image")),
    ],
]


def warm() -> None:
    """One step of small networks that together use every kernel and every signature."""
    for layers in SAMPLER:
        step(Model([*layers, Flatten(), Dense(4), ReLU(), Dense(2)], (14, 14, 1)), np.zeros(2, np.int64))
    step(Model([Flatten(), Dense(2)], (2, 2, 1), MeanSquares()), np.zeros((2, 2), np.float32))


def step(model, y) -> None:
    x, grad = np.ones((2, *model.input), np.float32), model.zeros()
    model.loss_and_grad(model.initial(), x, y, grad, key=(0,))
