"""The optimisers' formulas in NumPy: the readable truth, for float32 and float64.

Same names, arguments and bits as in `kernels.py`. All formulas act on each weight alone, so a stepper may hand over
a vector piece by piece: the temporaries below then stay small and in the cache.
"""

import numpy as np


def decayed(grad, w, decay):
    """The gradient of loss + decay/2 |w|^2."""
    return grad + decay * w if decay else grad


def deliver(step, w, out, move):
    """Take the step, or hand it out."""
    if move:
        w -= step
    else:
        out[:] = step


def sgd(grad, w, rate, decay, out, move):
    deliver(rate * decayed(grad, w, decay), w, out, move)


def momentum(grad, w, velocity, rate, mu, decay, out, move):
    velocity *= mu
    velocity += decayed(grad, w, decay)
    deliver(rate * velocity, w, out, move)


def nesterov(grad, w, velocity, rate, mu, decay, out, move):
    g = decayed(grad, w, decay)
    velocity *= mu
    velocity += g
    deliver(rate * (g + mu * velocity), w, out, move)


def adagrad(grad, w, squares, rate, eps, decay, out, move):
    g = decayed(grad, w, decay)
    squares += g * g
    deliver(rate * g / (np.sqrt(squares) + eps), w, out, move)


def adam(grad, w, mean, square, rate, beta1, rest1, beta2, rest2, spread, eps, decay, out, move):
    g = decayed(grad, w, decay)
    mean[:] = beta1 * mean + rest1 * g
    square[:] = beta2 * square + rest2 * (g * g)
    deliver(rate * mean / (spread * np.sqrt(square) + eps), w, out, move)


def adamw(grad, w, mean, square, rate, beta1, rest1, beta2, rest2, spread, eps, shrink, out, move):
    mean[:] = beta1 * mean + rest1 * grad
    square[:] = beta2 * square + rest2 * (grad * grad)
    deliver(rate * mean / (spread * np.sqrt(square) + eps) + shrink * w, w, out, move)
