"""Lesson 01: is the gradient right? Backpropagation against differences of the loss, and gradients that are wrong.

<grad L, v>  =  (L(w + h v) - L(w - h v)) / 2h  +  O(h^2)  +  O(eps / h)
"""

from __future__ import annotations

import numpy as np

from dlmini.data import Dataset
from dlmini.lessons.student_code import with_pieces
from dlmini.nn import Dense, Model, Tanh

DIRECTION = 101  # the purpose of a direction's random numbers


def direction(size: int, seed: int = 0) -> np.ndarray:
    """A random direction of length 1 in the space of all parameters."""
    v = np.random.default_rng([seed, 0, 0, DIRECTION]).standard_normal(size)
    return v / np.linalg.norm(v)


def along(model: Model, w: np.ndarray, x, y, v: np.ndarray) -> float:
    """The slope of the loss along v by backpropagation: <gradient, v>."""
    grad = model.zeros()
    model.loss_and_grad(w, x, y, grad)
    return float(np.dot(grad.astype(np.float64), v))


def difference(model: Model, w: np.ndarray, x, y, v: np.ndarray, step: float, central: bool = True) -> float:
    """The same slope from two losses: (L(w + hv) - L(w - hv)) / 2h, or one-sided: (L(w + hv) - L(w)) / h."""
    spare, h = model.zeros(), (step * v).astype(model.dtype)
    ahead = model.loss_and_grad(w + h, x, y, spare)
    behind = model.loss_and_grad(w - h if central else w, x, y, spare)
    return (ahead - behind) / (2 * step if central else step)


def difference_errors(model: Model, data: Dataset, steps, central: bool = True, seed: int = 0) -> np.ndarray:
    """How far each step's difference is from the slope, relative to it; the slope itself in float64."""
    exact = Model(model.layers, model.input, model.loss, dtype=np.float64)
    w, v = exact.initial(seed), direction(exact.size, seed)
    truth = along(exact, w, data.x.astype(np.float64), data.y, v)
    mine = w.astype(model.dtype), data.x.astype(model.dtype), data.y, v
    found = np.array([difference(model, *mine, step, central) for step in steps])
    return np.abs(found - truth) / abs(truth)


def smooth_net(dtype) -> Model:
    """A network for points in the plane whose loss has no kinks: tanh in place of ReLU."""
    return Model([Dense(24), Tanh(), Dense(2)], (2,), dtype=dtype, kernels="numpy")


def step_study(data: Dataset, steps) -> dict[str, np.ndarray]:
    """The errors of three kinds of differences at these steps."""
    double, single = smooth_net(np.float64), smooth_net(np.float32)
    return {
        "one-sided, float64": difference_errors(double, data, steps, central=False),
        "central, float64": difference_errors(double, data, steps),
        "central, float32": difference_errors(single, data, steps),
    }


def largest_error(model: Model, data: Dataset, step: float = 1e-7, seed: int = 0) -> float:
    """The gradient of every parameter against its central difference: the largest error, relative to the largest slope.

    The step is small, since a ReLU that switches within it spoils the difference; rounding then costs about 1e-9.
    """
    w, x, grad = model.initial(seed), data.x.astype(model.dtype), model.zeros()
    model.loss_and_grad(w, x, data.y, grad)
    units = np.eye(model.size)
    slopes = np.array([difference(model, w, x, data.y, unit, step) for unit in units])
    return float(np.abs(slopes - grad).max() / np.abs(slopes).max())


# ---- gradients with a mistake in them, as pieces for `with_pieces` ----


def no_gate(y, dy, dx):
    """ReLU's derivative taken for 1 everywhere."""
    dx[...] = dy


def no_bias(x, w, dy, dx, dw, db, gate=False):
    """The gradient of the bias forgotten."""
    np.dot(x.T, dy, out=dw)
    db[...] = 0
    if dx is not None:
        np.dot(dy, w.T, out=dx)


MISTAKES = {
    "right": {},
    "ReLU's gate forgotten": {"relu_backward": no_gate},
    "bias forgotten": {"dense_backward": no_bias},
}


def mistaken(model: Model) -> dict[str, Model]:
    """The same network with the right gradient, and with each mistake."""
    return {name: with_pieces(model, pieces) for name, pieces in MISTAKES.items()}
