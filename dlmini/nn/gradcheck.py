"""Is the gradient right? Ask the loss itself, twice per parameter.

dL/dw_i  =  (L(w + h e_i) - L(w - h e_i)) / 2h  +  O(h^2)
"""

import numpy as np

from dlmini.checks import array, lengths, piece, real, whole
from dlmini.nn.model import Model


def gradcheck(model, w, x, y, *, step=1e-5, sample=60, seed=0, key=(0,)):
    """The largest relative difference between backpropagation and central differences, over a sample of parameters.

    Works in float64 with the plain NumPy functions, whatever the model uses itself. Below 1e-6 is right; a ReLU or a
    maximum that flips within `step` may spoil a single parameter.
    """
    piece(model, "model", ("layers", "input", "loss"), "a Model, for example lenet()")
    step, sample = real(step, "step", above=0), whole(sample, "sample", 1, hint="how many parameters are tried")
    w, x, y = array(w, "w", "model.initial()"), array(x, "x", "a batch of floats"), array(y, "y", "np.array(labels)")
    key = lengths(key, "key")
    exact = Model(model.layers, model.input, model.loss, dtype=np.float64, kernels="numpy")
    w, x = w.astype(np.float64), x.astype(np.float64)
    y = y.astype(np.float64) if np.issubdtype(y.dtype, np.floating) else y
    grad, spare = exact.zeros(), exact.zeros()
    exact.loss_and_grad(w, x, y, grad, key)
    chosen = np.random.default_rng(whole(seed, "seed", 0)).permutation(w.size)[:sample]
    numeric = np.array([central(exact, w, i, step, x, y, spare, key) for i in chosen])
    scale = max(np.abs(grad[chosen]).max(initial=0), np.abs(numeric).max(initial=0), 1e-12)
    return float(np.abs(grad[chosen] - numeric).max(initial=0) / scale)


def central(model, w, i, step, x, y, grad, key):
    """The slope of the loss along parameter i."""
    losses = []
    for sign in (1, -1):
        moved = w.copy()
        moved[i] += sign * step
        losses.append(model.loss_and_grad(moved, x, y, grad, key))
    return (losses[0] - losses[1]) / (2 * step)
