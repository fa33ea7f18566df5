"""The course's networks on a handful of noisy pictures: for tests that compare two ways to train one network."""

import numpy as np

from dlmini import Classify, Dataset, cifar_net, lenet, mlp


def pictures(shape, rows=96, seed=0):
    """Noise around a pattern for each of ten classes: something to learn, in no time."""
    coin = np.random.default_rng([seed, 3])
    y = coin.integers(10, size=rows)
    pattern = np.random.default_rng(4).integers(0, 160, (10, *shape))
    x = pattern[y] + coin.integers(0, 96, (rows, *shape))
    return Dataset("pictures", x.astype(np.uint8), y, tuple("0123456789"))


def small_task(name, batch=4, **options):
    network = {"lenet": lenet, "cifar_net": cifar_net, "mlp": lambda **o: mlp((50, 30), **o)}[name]
    shape = (32, 32, 3) if name == "cifar_net" else (28, 28, 1)
    return Classify(network(input=shape, **options), pictures(shape), pictures(shape, 32, seed=1), batch=batch)
