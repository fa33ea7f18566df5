"""An answer that is to fill the judge's memory."""

import numpy as np


def attack(*args, **kwargs):
    return [np.zeros(1 << 23) for _ in range(8)]
