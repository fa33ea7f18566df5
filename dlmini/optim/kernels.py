"""The optimisers' inner loops, compiled: one pass over the memory each, whatever the optimiser remembers.

Arguments: the gradient; the weights `w` (touched only for weight decay or when `move` is set); what the optimiser
remembers, updated in place; the numbers of the formula; `out`; and `move`. The step is written to `out`, or, with
`move`, subtracted from `w` at once. `plain.py` holds the NumPy twins, which give the same bits.

They are compiled `exact`: fused multiply-add would keep the unrounded product in `w -= rate * g`, so moving the weights
in one pass would differ from computing the step and subtracting it. The loops vectorise without any such licence.
"""

import numpy as np

from dlmini.jit import kernel


@kernel(exact=True)
def sgd(grad, w, rate, decay, out, move):
    for i in range(grad.size):
        g = grad[i]
        if decay:
            g += decay * w[i]
        step = rate * g
        if move:
            w[i] -= step
        else:
            out[i] = step


@kernel(exact=True)
def momentum(grad, w, velocity, rate, mu, decay, out, move):
    for i in range(grad.size):
        g = grad[i]
        if decay:
            g += decay * w[i]
        velocity[i] = mu * velocity[i] + g
        step = rate * velocity[i]
        if move:
            w[i] -= step
        else:
            out[i] = step


@kernel(exact=True)
def nesterov(grad, w, velocity, rate, mu, decay, out, move):
    for i in range(grad.size):
        g = grad[i]
        if decay:
            g += decay * w[i]
        velocity[i] = mu * velocity[i] + g
        step = rate * (g + mu * velocity[i])
        if move:
            w[i] -= step
        else:
            out[i] = step


@kernel(exact=True)
def adagrad(grad, w, squares, rate, eps, decay, out, move):
    for i in range(grad.size):
        g = grad[i]
        if decay:
            g += decay * w[i]
        squares[i] += g * g
        step = rate * g / (np.sqrt(squares[i]) + eps)
        if move:
            w[i] -= step
        else:
            out[i] = step


@kernel(exact=True)
def adam(grad, w, mean, square, rate, beta1, rest1, beta2, rest2, spread, eps, decay, out, move):
    for i in range(grad.size):
        g = grad[i]
        if decay:
            g += decay * w[i]
        mean[i] = beta1 * mean[i] + rest1 * g
        square[i] = beta2 * square[i] + rest2 * (g * g)
        step = rate * mean[i] / (spread * np.sqrt(square[i]) + eps)
        if move:
            w[i] -= step
        else:
            out[i] = step


@kernel(exact=True)
def adamw(grad, w, mean, square, rate, beta1, rest1, beta2, rest2, spread, eps, shrink, out, move):
    for i in range(grad.size):
        g = grad[i]
        mean[i] = beta1 * mean[i] + rest1 * g
        square[i] = beta2 * square[i] + rest2 * (g * g)
        step = rate * mean[i] / (spread * np.sqrt(square[i]) + eps) + shrink * w[i]
        if move:
            w[i] -= step
        else:
            out[i] = step
