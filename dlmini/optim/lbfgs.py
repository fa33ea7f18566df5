"""L-BFGS: Newton's direction, guessed from the last few steps and how the gradient changed along them.

found = lbfgs(loss_and_grad, w, history=10)         loss_and_grad(w, grad) -> loss, and writes grad
found.w, found.loss, found.why

Two forms of the direction, equal but for rounding. `two_loop` is the recursion as published; it works on vectors.
`mixture` needs only the dot products of the vectors, and says which mixture of them the direction is: where vectors
lie on many machines that is one round of messages instead of 4 h (sandblaster/).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import isfinite, sqrt
from numbers import Real

import numpy as np

from dlmini.checks import array, real, refuse, shown, whole, word
from dlmini.optim.line_search import Point, strong_wolfe

FORMS = ("two_loop", "dots")
CURVED = 1e-10  # a pair is kept if the cosine between step and change of gradient is above this
BLOCK = 16384  # numbers at a time, so that what is converted to float64 stays in the cache
GIVEN = "a function (w, grad) that writes grad and returns the loss, a number"
FLOOR = "no step along the slope lowers the loss any further: as low as its rounding lets one see"


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """a . b, added up in float64 whatever the vectors are."""
    if a.dtype == np.float64:
        return float(a @ b)
    return float(sum(a[i : i + BLOCK].astype(np.float64) @ b[i : i + BLOCK] for i in range(0, a.size, BLOCK)))


def is_curved(sy: float, ss: float, yy: float) -> bool:
    """Whether the loss curves upwards along a step s, y being the change of the gradient: else the pair is skipped."""
    return bool(np.isfinite(yy)) and sy > CURVED * sqrt(ss * yy)


def two_loop(grad: np.ndarray, pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """The direction -H grad, H being the inverse curvature that pairs (s, y) tell of, the oldest first.

        newest to oldest   a_i = s_i.q / s_i.y_i,  q -= a_i y_i         q begins as grad
        q *= s.y / y.y     of the newest: the curvature everywhere else
        oldest to newest   q += (a_i - y_i.q / s_i.y_i) s_i             the direction is -q
    2 h dot products that wait for one another, and 2 h sums. Without pairs it is steepest descent.
    Nocedal, Updating quasi-Newton matrices with limited storage, Mathematics of Computation 1980.
    """
    q, shares = grad.copy(), []
    for s, y in reversed(pairs):
        shares.append(dot(s, q) / dot(s, y))
        q -= q.dtype.type(shares[-1]) * y
    if pairs:
        s, y = pairs[-1]
        q *= q.dtype.type(dot(s, y) / dot(y, y))
    for (s, y), share in zip(pairs, reversed(shares), strict=True):
        q += q.dtype.type(share - dot(y, q) / dot(s, y)) * s
    return -q


def mixture(products: np.ndarray) -> np.ndarray:
    """How much of each vector s_1 ... s_h, y_1 ... y_h, grad makes the direction, given all their dot products.

    The same recursion, on the coefficients of q instead of q:  v.q = sum_j q_j v.b_j  is a row of `products`.
    Chen, Wang and Zhou, Large-scale L-BFGS using MapReduce, NIPS 2014.
    """
    h = len(products) // 2
    q, shares = np.zeros(2 * h + 1), np.zeros(h)
    q[2 * h] = 1.0
    curvature = [products[i, h + i] for i in range(h)]
    for i in reversed(range(h)):
        shares[i] = products[i] @ q / curvature[i]
        q[h + i] -= shares[i]
    if h:
        q *= curvature[-1] / products[2 * h - 1, 2 * h - 1]
    for i in range(h):
        q[i] += shares[i] - products[h + i] @ q / curvature[i]
    return -q


def by_dots(grad: np.ndarray, pairs: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """As `two_loop`, by way of all dot products."""
    basis = [*(s for s, _ in pairs), *(y for _, y in pairs), grad]
    direction = np.zeros_like(grad)
    for share, vector in zip(mixture(np.array([[dot(a, b) for b in basis] for a in basis])), basis, strict=True):
        direction += grad.dtype.type(share) * vector
    return direction


@dataclass
class Minimum:
    """Where `lbfgs` came to. `losses` are those after each iteration, the first before any; `why` it ended."""

    w: np.ndarray = field(repr=False)
    grad: np.ndarray = field(repr=False)
    losses: list[float] = field(repr=False)
    evaluations: int
    why: str

    @property
    def loss(self) -> float:
        return self.losses[-1]

    @property
    def iterations(self) -> int:
        return len(self.losses) - 1


def lbfgs(
    loss_and_grad: Callable[[np.ndarray, np.ndarray], float],
    w: np.ndarray,
    history: int = 10,
    iterations: int = 100,
    tolerance: float = 1e-8,
    form: str = "two_loop",
    noise: float = 0.0,
) -> Minimum:
    """Minimise a smooth function from `w` on; `w` itself is left as it is.

    Each iteration goes along -H grad as far as the strong Wolfe conditions want (line_search.py), most often one
    gradient. Remembers `history` pairs of vectors. It ends after so many iterations, where the gradient is no longer
    than `tolerance`, or where no step gains any more. noise: how much of a loss may be rounding.
    Liu and Nocedal, On the limited memory BFGS method for large scale optimization, 1989.
    """
    check_asked(loss_and_grad, w, tolerance, form, noise)
    history = whole(history, "history", 1, hint="pairs of vectors that are remembered")
    iterations = whole(iterations, "iterations", 1)
    x, grad, pairs, direct = w.copy(), np.zeros_like(w), [], {"two_loop": two_loop, "dots": by_dots}[form]
    found = Minimum(x, grad, [number(loss_and_grad(x, grad))], 1, "")
    found.why = no_loss(found.loss)
    while not found.why and found.iterations < iterations:
        size = sqrt(dot(grad, grad))
        found.why = no_slope(size, tolerance)
        if found.why:
            break
        direction = direct(grad, pairs)
        ended = _search(loss_and_grad, found, direction, first_step(size, bool(pairs)), noise)
        if ended is None and not pairs:
            found.why = FLOOR
            break
        if ended is None:
            pairs.clear()  # they mislead: once more, along the gradient
            continue
        here, new, new_grad = ended
        s, y = new - x, new_grad - grad
        if is_curved(dot(s, y), dot(s, s), dot(y, y)):
            pairs[:] = [*pairs, (s, y)][-history:]
        x[:], grad[:] = new, new_grad
        found.losses.append(here.loss)
    found.why = found.why or f"{iterations} iterations"
    return found


def _search(loss_and_grad, found: Minimum, direction, first: float, noise: float):
    """Go along the direction: (where the search settled, weights and gradient there), or None."""
    new, new_grad = np.empty_like(found.w), np.empty_like(found.w)
    search = strong_wolfe(found.loss, dot(found.grad, direction), first, noise=noise * abs(found.loss))
    said = None
    try:
        while True:
            new[:] = found.w + found.w.dtype.type(search.send(said)) * direction
            loss = number(loss_and_grad(new, new_grad))
            found.evaluations += 1
            said = loss, dot(new_grad, direction)
    except StopIteration as end:
        here: Point | None = end.value
    return here and (here, new, new_grad)


def number(loss) -> float:
    """The loss as a Python number; it may be infinite, or NaN, but not nothing."""
    if not isinstance(loss, Real) or isinstance(loss, bool):
        raise TypeError(f"loss_and_grad returned {shown(loss)}; it must be {GIVEN}")
    return float(loss)


def no_loss(loss: float) -> str:
    """Why nothing can be gained from here; nothing if the loss is a number."""
    return "" if isfinite(loss) else f"the loss of the first weights is {loss}"


def no_slope(size: float, tolerance: float) -> str:
    """Why a gradient of this length leads nowhere; nothing if it leads somewhere."""
    if not isfinite(size):
        return f"the gradient is {size} long, though the loss is a number: its formula is wrong, or overflows"
    return "" if size > tolerance else f"the gradient is {size:.3g} long, at most {tolerance:g}"


def first_step(size: float, known: bool) -> float:
    """The step to try first: 1 once curvature is known; before, one that moves the weights by at most 1."""
    return 1.0 if known else min(1.0, 1.0 / size)


def check_asked(loss_and_grad, w, tolerance, form, noise) -> None:
    if not callable(loss_and_grad) or isinstance(loss_and_grad, type):
        refuse(TypeError, "loss_and_grad", loss_and_grad, GIVEN)
    if array(w, "w", "the weights to begin with").ndim != 1 or w.dtype not in (np.float32, np.float64) or not w.size:
        refuse(ValueError, "w", w, "a vector of float32 or float64")
    real(tolerance, "tolerance", least=0), real(noise, "noise", least=0, hint="a share of the loss")
    word(form, "form", FORMS)
