"""A few rounds of one topology, without a model: each worker says given updates, and weights go along with them."""

import numpy as np

from dlmini import Recipe
from dlmini.compression import None_
from dlmini.topology.turn import Turn


class Adding:
    """An outer optimiser that adds what it is given: weights that begin with zero become the sum of what was heard."""

    def apply(self, w, mixed):
        w += mixed


def play(comm, topology, said, shapes=None, compression=None, **pieces):
    """said[t][rank] is an update. Returns the worker's weights after each round, and what its topology remembers."""
    compression = compression or None_()
    size = said[0][0].size
    w, start, mixed = (np.zeros(size, np.float32) for _ in range(3))
    recipe = Recipe(topology=topology, compression=compression, rounds=len(said), **pieces)
    talk = topology.start(comm, w, recipe, shapes or ((size,),))
    weights = []
    for t, updates in enumerate(said):
        start[:] = w
        comm.compute("learn", None)
        packet = compression.encode(updates[comm.rank], recipe.coin(comm.rank, t))
        w = talk.exchange(comm, Turn(t, start, w, packet, mixed, compression.summable), Adding())
        weights.append(w.copy())
    return np.array(weights), talk.memory() if hasattr(talk, "memory") else {}


def updates(rounds, workers, size, seed=0):
    """Random updates, said[t][rank]."""
    return np.random.default_rng([seed, 8]).standard_normal((rounds, workers, size)).astype(np.float32)


def once(workers, size, rounds, seed=0):
    """Something different on each worker in the first round, and nothing afterwards."""
    said = updates(rounds, workers, size, seed)
    said[1:] = 0
    return said
