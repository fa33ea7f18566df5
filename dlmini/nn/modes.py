"""What a pass through the network is for: learning, predicting, or measuring what predicting needs to know.

A mode is made for one way forward. Layers are visited in a fixed order, so the n-th layer that asks is the n-th that
asked last time: that is its number, and nobody has to be told where in the network it stands.
"""

import numpy as np

COIN = 7  # the purpose of dropout's random numbers: the last number of their key


class Training:
    """Dropout forgets, by coins that are keyed by (key, number of the layer): a run can be repeated anywhere.

    BatchNorm takes the mean and the variance of its batch.
    """

    measures = True  # whether BatchNorm looks at the batch

    def __init__(self, key=None, drawn=0):
        self.key, self.drawn = key, drawn  # drawn: the layers with coins that stand before this part of a network

    def coins(self):
        """The random numbers of the next layer that needs some."""
        self.drawn += 1
        return np.random.default_rng([*self.key, self.drawn, COIN])

    def saw(self, mean, variance):
        """What the next BatchNorm has found in the batch."""


class Measuring:
    """Predicting, but for BatchNorm, which looks at the batch and says what it saw."""

    measures = True

    def __init__(self):
        self.found = []

    def coins(self):
        return None

    def saw(self, mean, variance):
        self.found.append((mean.astype(np.float64), variance.astype(np.float64)))


class Predicting:
    """Nothing is left to chance, or to the other images of the batch: BatchNorm is told mean and variance."""

    measures = False

    def __init__(self, stats=None):
        self.stats, self.read = stats, 0

    def coins(self):
        return None

    def tell(self, mean, variance):
        """Write what the next BatchNorm has to know."""
        for place in (mean, variance):
            place[...] = self.stats[self.read : self.read + place.size]
            self.read += place.size


def merged(batches, images):
    """One mean and variance of every BatchNorm, from those of several batches of so many images each.

    mean = E[mean_b],  variance = E[variance_b + (mean_b - mean)^2]        E over all images
    """
    shares, found = [count / sum(images) for count in images], []
    for each in zip(*batches, strict=True):
        mean = sum(share * m for share, (m, _) in zip(shares, each, strict=True))
        found += [mean, sum(share * (v + (m - mean) ** 2) for share, (m, v) in zip(shares, each, strict=True))]
    return np.concatenate(found)
