"""Sandblaster L-BFGS: a coordinator that holds no weights, shards that hold them all, replicas that compute gradients.

    train(task, Sandblaster(history=10, portions=64), on=Processes(6))

    coordinator.py   the last rank: says what the shards do, hands out portions, sees scalars only
    shards.py        before it: each a slice of every vector; a small machine that copies, scales, adds, multiplies
    replicas.py      the first ranks: fetch the weights, compute a portion's gradient, push it, ask for the next
    portions.py      who gets which portion, and which copy of it counts: no messages there
    directions.py    L-BFGS in commands to the shards, in two forms
    costs.py         what all that costs, as formulas
Dean et al., Large scale distributed deep networks, NIPS 2012, section 4.2.
"""

from dlmini.sandblaster.description import Sandblaster

__all__ = ["Sandblaster"]
