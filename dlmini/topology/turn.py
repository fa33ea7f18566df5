"""What a worker brings to an exchange, and where the result goes."""

from typing import NamedTuple

import numpy as np


class Turn(NamedTuple):
    """One worker's round t, seen by a topology.

    start    the weights that the round began with; w itself, where nobody steps alone
    w        the worker's own weights now; the exchange leaves the new ones here
    packet   what the worker says
    mixed    room for the mixture of what was said
    summable whether packets may be added on the way
    """

    t: int
    start: np.ndarray
    w: np.ndarray
    packet: object
    mixed: np.ndarray
    summable: bool

    def step(self, outer) -> np.ndarray:
        """w = start - outer(mixed)."""
        if self.w is not self.start:
            self.w[:] = self.start
        outer.apply(self.w, self.mixed)
        return self.w
