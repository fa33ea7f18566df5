"""How far to go along a direction: far enough to gain, near enough that the slope there still says something.

The search is a generator that knows numbers only. It yields a step and is sent (loss, slope) there, whoever computes
them: a function call, or a hundred machines. It returns the Point it settled on, which is the one it asked for last.
"""

from collections.abc import Generator
from math import inf, isfinite, sqrt
from typing import NamedTuple

ENOUGH, FLAT = 1e-4, 0.9  # c1 and c2: the gain that is demanded, and how much of the slope may remain
LEAST, MOST, GROWTH = 0.1, 0.9, 10.0  # how near a trial may come to an end of its bracket; how much a step may grow
TINY = 1e-12  # a bracket this narrow, relative to its ends, holds nothing that could be told apart


class Point(NamedTuple):
    """A step along the direction, the loss there, and how steeply the loss rises there along the direction."""

    step: float
    loss: float
    slope: float


Search = Generator[float, tuple[float, float], Point | None]


class Wolfe:
    """The strong Wolfe conditions on a step a, from a point with loss f and slope g < 0:

    gains    loss(a) <= f + c1 a g          the loss falls by a share of what the slope promises
    flat     |slope(a)| <= c2 |g|           most of the slope is used up
    `noise` is how much losses may differ by rounding alone.
    Wolfe, Convergence conditions for ascent methods, SIAM Review 1969.
    """

    def __init__(self, start: Point, noise: float = 0.0):
        self.start, self.noise = start, noise

    def gains(self, here: Point) -> bool:
        return here.loss <= self.start.loss + ENOUGH * here.step * self.start.slope + self.noise

    def flat(self, here: Point) -> bool:
        return abs(here.slope) <= FLAT * abs(self.start.slope)


def strong_wolfe(loss: float, slope: float, first: float = 1.0, trials: int = 20, noise: float = 0.0) -> Search:
    """Search for a step that meets both conditions, beginning with `first`.

    Steps grow until a bracket is found that must hold one; then it is narrowed (`zoom`). After so many trials the best
    step that gains will do; None if there is none. Cost: most often one trial, each a gradient of the whole batch.
    Nocedal and Wright, Numerical optimization, 2006, algorithms 3.5 and 3.6.
    """
    before = start = Point(0.0, loss, slope)
    wolfe, step = Wolfe(start, noise), first
    for trial in range(trials):
        here = Point(step, *(yield step))
        if not wolfe.gains(here) or (trial and here.loss >= before.loss):
            return (yield from zoom(wolfe, before, here, trials - trial - 1))
        if wolfe.flat(here):
            return here
        if here.slope >= 0:
            return (yield from zoom(wolfe, here, before, trials - trial - 1))
        step, before = grown(before, here), here
    return before


def zoom(wolfe: Wolfe, low: Point, high: Point, trials: int) -> Search:
    """Between `low`, the best step that gains, and `high` lies one that meets both conditions: narrow it down."""
    last = max(low, high)  # the longer step was tried last
    for _ in range(trials):
        if abs(high.step - low.step) <= TINY * max(abs(high.step), abs(low.step)):
            break
        step = between(low, high)
        last = here = Point(step, *(yield step))
        if not wolfe.gains(here) or here.loss >= low.loss + wolfe.noise:
            high = here
        elif wolfe.flat(here):
            return here
        else:
            high = low if here.slope * (high.step - low.step) >= 0 else high
            low = here
    if low.step > 0 and last.step != low.step:
        yield low.step  # whoever computes must be there when the search ends
    return low if low.step > 0 else None


def between(low: Point, high: Point) -> float:
    """Where the cubic through both points is least, but well inside the bracket; its middle where that says nothing."""
    width, place = high.step - low.step, lowest(low, high)
    share = (place - low.step) / width if isfinite(place) else 0.5
    return low.step + width * min(max(share, LEAST), MOST)


def grown(before: Point, here: Point) -> float:
    """A longer step: where the cubic points to, from a little to ten times as far."""
    width, place = here.step - before.step, lowest(before, here)
    least, most = here.step + width / 10, here.step + GROWTH * width
    return min(max(place, least), most) if isfinite(place) else most


def lowest(a: Point, b: Point) -> float:
    """The least point of the cubic with these losses and slopes; infinite if it has none, or they are not numbers."""
    width = b.step - a.step
    d1 = a.slope + b.slope - 3 * (b.loss - a.loss) / width
    inside = d1 * d1 - a.slope * b.slope
    if not isfinite(inside) or inside < 0:
        return inf
    d2 = sqrt(inside) if width > 0 else -sqrt(inside)
    below = b.slope - a.slope + 2 * d2
    return b.step - width * (b.slope + d2 - d1) / below if below else inf
