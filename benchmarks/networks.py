"""The networks that benchmarks train: those of the course, and one that can be cut into two halves of equal work."""

from dlmini import ZOO, Conv2d, Dense, Flatten, MaxPool, Model, ReLU


def conv7(**options) -> Model:
    """Seven 3x3 convolutions, 32 channels and then 64, on pictures of 32 x 32; half of the work lies behind four.

    The first has three channels to read and no gradient to hand on; each of the last six costs about the same.
    """
    layers = [Conv2d(32, 3, padding="same"), ReLU(), MaxPool(2)]
    for _ in range(6):
        layers += [Conv2d(64, 3, padding="same"), ReLU()]
    return Model([*layers, MaxPool(4), Flatten(), Dense(10)], (32, 32, 3), **options)


NETWORKS = {**ZOO, "conv7": conv7}
