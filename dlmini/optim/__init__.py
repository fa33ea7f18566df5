"""Optimisers: gradient in, step out.

    stepper = Momentum(0.05, momentum=0.9).start(w.size)
    w -= stepper(grad)              # or, in one pass over the memory: stepper.apply(w, grad)

The description (`Momentum(0.05)`) is immutable, can be shared, and its repr is the legend of a plot; what an
optimiser remembers between calls lives in the stepper.
"""

from dlmini.optim.schedules import constant, cosine, staircase, warm_up
from dlmini.pieces import public

globals().update(public("optim"))  # every optimiser of this room: pieces.py finds them
__all__ = ["constant", "cosine", "staircase", "warm_up", *public("optim")]
