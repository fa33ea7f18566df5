"""Lesson 01: a whole backward pass, as the library's own layers make it, for who has not written one yet."""

from __future__ import annotations

import numpy as np

from dlmini.nn import Dense, Model, ReLU


def library_backward(x, labels, w1, b1, w2, b2) -> tuple[float, tuple]:
    """The mean loss and its slopes (dw1, db1, dw2, db2): what `network_backward` of the exercise gives."""
    net = Model([Dense(len(b1)), ReLU(), Dense(len(b2))], x.shape[1:], dtype=x.dtype)
    w, grad = np.concatenate([array.ravel() for array in (w1, b1, w2, b2)]), net.zeros()
    loss = net.loss_and_grad(w, x, labels, grad)
    return float(loss), tuple(array for layer in net.views(grad) for array in layer)
