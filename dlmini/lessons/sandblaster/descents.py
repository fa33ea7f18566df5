"""Lesson 13: valleys to go down, by steepest descent and by L-BFGS, with a student's direction if there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dlmini.optim.lbfgs import is_curved, two_loop
from dlmini.optim.line_search import strong_wolfe

Loss = Callable[[np.ndarray, np.ndarray], float]


def valley(size: int = 50, curvature: float = 1000.0) -> Loss:
    """w.Aw / 2 in so many dimensions, up to `curvature` times steeper in one direction than in another."""
    turn = np.linalg.qr(np.random.default_rng([13, size]).standard_normal((size, size)))[0]
    A = turn * np.geomspace(1 / curvature, 1, size) @ turn.T

    def loss_and_grad(w, grad):
        grad[:] = A @ w
        return float(w @ grad) / 2

    return loss_and_grad


def banana(w: np.ndarray, grad: np.ndarray) -> float:
    """Rosenbrock's valley: bent, and flat along its floor; the minimum is at (1, 1)."""
    x, y = w
    grad[:] = -2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)
    return float((1 - x) ** 2 + 100 * (y - x * x) ** 2)


@dataclass(frozen=True)
class Path:
    """Where it went, the loss there, and how many gradients that took."""

    points: np.ndarray
    losses: list[float]
    gradients: int

    def steps_to(self, loss: float) -> int:
        """Steps until the loss was at most this; all of them if it never was."""
        return next((i for i, found in enumerate(self.losses) if found <= loss), len(self.losses))


def descend(loss_and_grad: Loss, start, direct: Callable = two_loop, history: int = 10, steps: int = 100) -> Path:
    """Go down along direct(grad, pairs), as far as the strong Wolfe conditions want. history=0: steepest descent."""
    w, grad, pairs = np.array(start, float), np.zeros(len(start)), []
    loss, gradients = loss_and_grad(w, grad), 1
    points, losses = [w.copy()], [loss]
    while len(losses) <= steps and np.sqrt(grad @ grad) > 1e-9:
        way = direct(grad.copy(), list(pairs))
        found, tried = along(loss_and_grad, w, way, loss, downhill(way, grad), bool(pairs) or not history)
        gradients += tried
        if found is None:
            break
        new, new_grad, loss = found
        s, y = new - w, new_grad - grad
        if history and is_curved(float(s @ y), float(s @ s), float(y @ y)):
            pairs = [*pairs, (s, y)][-history:]
        w, grad = new, new_grad
        points.append(w.copy())
        losses.append(loss)
    return Path(np.array(points), losses, gradients)


def downhill(way, grad: np.ndarray) -> float:
    """The slope along a direction; one that is none, or does not lead down, is refused."""
    if np.shape(way) != grad.shape:
        raise ValueError(f"the direction has shape {np.shape(way)}; it must have that of the gradient, {grad.shape}")
    slope = float(grad @ way)
    if not slope < 0:
        raise ValueError(f"the slope along the direction is {slope:.3g}; -H grad leads down, where it is negative")
    return slope


def along(loss_and_grad: Loss, w, way, loss: float, slope: float, known: bool):
    """The line search: ((weights, gradient, loss), gradients taken); (None, ...) if no step gains."""
    first = 1.0 if known else min(1.0, 1.0 / float(np.sqrt(way @ way)))
    search, said, tried, grad, new = strong_wolfe(loss, slope, first), None, 0, np.zeros_like(w), w
    try:
        while True:
            new = w + search.send(said) * way
            said, tried = (loss_and_grad(new, grad), float(grad @ way)), tried + 1
    except StopIteration as end:
        return (None if end.value is None else (new, grad.copy(), end.value.loss)), tried
