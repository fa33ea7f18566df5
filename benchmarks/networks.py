"""The networks that benchmarks train: those of the course, and one that can be cut into two halves of equal work."""

from dlmini import ZOO, Conv2d, Dense, Flatten, MaxPool, Model, ReLU


def conv8(**options) -> Model:
    """Eight 3x3 convolutions, 32 channels and then 64, on pictures of 32 x 32: half of the work lies behind four.

    The first has three channels to read and no gradient to hand on; the last two see pictures of 8 x 8.
    """
    layers = [*convolution(32), MaxPool(2), *5 * convolution(64), MaxPool(2), *2 * convolution(64), MaxPool(2)]
    return Model([*layers, Flatten(), Dense(10)], (32, 32, 3), **options)


def convolution(channels: int) -> list:
    return [Conv2d(channels, 3, padding="same"), ReLU()]


NETWORKS = {**ZOO, "conv8": conv8}
