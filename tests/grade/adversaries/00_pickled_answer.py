"""Objects that would run code in the judge, were they unpickled there."""

import os
import pickle

import numpy as np


class Bomb:
    def __reduce__(self):
        return os.system, ("touch /tmp/BREACH",)


def attack(*args, **kwargs):
    print(len(pickle.dumps(Bomb())))
    return np.array([Bomb(), Bomb()], dtype=object)
