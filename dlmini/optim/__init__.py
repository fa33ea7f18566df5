"""Optimisers: gradient in, step out.

    stepper = Momentum(0.05, momentum=0.9).start(w.size)
    w -= stepper(grad)              # or, in one pass over the memory: stepper.apply(w, grad)

The description (`Momentum(0.05)`) is immutable, can be shared, and its repr is the legend of a plot; what an
optimiser remembers between calls lives in the stepper.
"""

from dlmini.optim.adaptive import Adagrad, Adam
from dlmini.optim.descent import SGD, Momentum, Nesterov
from dlmini.optim.schedules import constant, cosine, staircase, warm_up

__all__ = ["SGD", "Adagrad", "Adam", "Momentum", "Nesterov", "constant", "cosine", "staircase", "warm_up"]
