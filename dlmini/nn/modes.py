"""What a pass through the network is for: learning, or predicting.

A mode is made for one way forward. Layers are visited in a fixed order, so the n-th layer that asks is the n-th that
asked last time: that is its number, and nobody has to be told where in the network it stands.
"""

import numpy as np

COIN = 7  # the purpose of dropout's random numbers: the last number of their key


class Training:
    """Dropout forgets, by coins that are keyed by (key, number of the layer): a run can be repeated anywhere."""

    def __init__(self, key=None, drawn=0):
        self.key, self.drawn = key, drawn  # drawn: the layers with coins that stand before this part of a network

    def coins(self):
        """The random numbers of the next layer that needs some."""
        self.drawn += 1
        return np.random.default_rng([*self.key, self.drawn, COIN])


class Predicting:
    """Nothing is left to chance."""

    def coins(self):
        return None
