"""The pictures of lesson 07: fronts of accuracy and bytes, two valleys (still, and with sliders), and the bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ipywidgets
import numpy as np

from dlmini.lessons.local_sgd.periods import Row, descent, longest_period, rests_at
from dlmini.lessons.picture_desk import image
from dlmini.show.learning import percent
from dlmini.show.palette import BLACK, BLUE, GREY, VERMILION, strokes, themed
from dlmini.show.paper import Sheet, sheet
from dlmini.show.stills import WithStill

VALLEYS = {"curvatures": (1.0, 0.2), "minima": (-1.0, 1.0)}
LONG = 240  # steps that are drawn of two valleys
LEAST = 0.2  # of accuracy that a front shows: chance moves it by a point or two, and must not look like a cliff


@themed
def fronts(found: Mapping[str, Sequence[Row]]):
    """Accuracy over the bytes that all workers sent; one line for each way to deal out the data."""
    figure, ax = sheet(9, 4.4)
    for (name, rows), stroke in zip(found.items(), strokes(len(found)), strict=True):
        ax.semilogx([r.megabytes for r in rows], [r.accuracy for r in rows], marker="o", label=name, **stroke)
    above = {"xytext": (0, 8), "textcoords": "offset points", "fontsize": "small", "ha": "center"}
    for r in uppermost(found):
        ax.annotate(r.label, (r.megabytes, r.accuracy), **above)
    low, high = ax.get_ylim()
    high += 0.1 * max(high - low, LEAST)  # room for the labels
    ax.set(xlabel="MB sent by all workers", ylabel="test accuracy of the mean", ylim=(min(low, high - LEAST), high))
    ax.yaxis.set_major_formatter(percent())
    figure.legend(loc="outside right upper")
    return figure


def uppermost(found: Mapping[str, Sequence[Row]]) -> list[Row]:
    """One row for each period, the best: lines that share a period share its label."""
    best: dict[str, Row] = {}
    for r in (r for rows in found.values() for r in rows):
        best[r.label] = max(r, best.get(r.label, r), key=lambda one: one.accuracy)
    return [*best.values()]


@themed
def valleys(period: int, rate: float = 0.1, second: float = 0.2, steps: int = LONG) -> Sheet:
    """Left: two workers with a minimum each, and where they go. Right: where they come to rest, by period."""
    a, b = (1.0, second), VALLEYS["minima"]
    figure, (left, right) = sheet(11.5, 4.3, columns=2)
    path = descent(a, b, rate, period, steps)
    for i, colour in enumerate((BLUE, VERMILION)):
        left.plot(path[:, i], color=colour, linewidth=1, label=f"worker {i}: curvature {a[i]:g}, minimum {b[i]:g}")
    best = np.dot(a, b) / np.sum(a)
    for ax in (left, right):
        ax.axhline(best, color=BLACK, linestyle="--", linewidth=1)
    right.annotate("minimum of the sum", (8, best), (0, -14), textcoords="offset points", fontsize="small")
    left.set(xlabel="step", ylabel="weight", ylim=(-1.05, 1.05), title=f"period {period}")
    left.legend(fontsize="small", loc="upper right")
    many = np.unique(np.geomspace(1, 200, 60).astype(int))
    right.semilogx(many, [rests_at(a, b, rate, p) for p in many], color=GREY)
    right.plot(period, rests_at(a, b, rate, period), "o", color=BLUE)
    right.set(xlabel="period", ylabel="comes to rest at", ylim=(-1.05, 1.05))
    return figure


@themed
def bound(workers: Sequence[int], runs: Mapping[str, tuple[float, float]]):
    """The period that the bound allows, by the number of steps; dots are runs (steps, workers)."""
    figure, ax = sheet(8.5, 4.4)
    T = np.geomspace(100, 1e10, 60)
    for n, stroke in zip(workers, strokes(len(workers)), strict=True):
        ax.loglog(T, longest_period(T, n), label=f"N = {n}", **stroke)
    for name, (steps, n) in runs.items():
        ax.plot(steps, longest_period(steps, n), "o", color=BLACK, markersize=5)
        ax.annotate(name, (steps, longest_period(steps, n)), (6, -10), textcoords="offset points", fontsize="small")
    ax.axhline(1, color=GREY, linestyle="--", linewidth=1)
    ax.annotate("1: talk after every step", (T[-1], 1), (0, -14), textcoords="offset points", color=GREY, ha="right")
    ax.set(xlabel="steps T", ylabel="longest period I")
    figure.legend(loc="outside right upper")
    return figure


class TwoValleys(WithStill, ipywidgets.VBox):
    """Three sliders and a picture; every change draws it again."""

    def __init__(self, **start):
        choices = {
            "period": ipywidgets.IntSlider(16, 1, 120, description="period"),
            "rate": ipywidgets.FloatSlider(0.1, min=0.01, max=0.5, step=0.01, description="rate"),
            "second": ipywidgets.FloatSlider(0.2, min=0.05, max=1.0, step=0.05, description="curvature of worker 1"),
        }
        for name, widget in choices.items():
            widget.style.description_width, widget.continuous_update = "initial", False
            widget.value = start.get(name, widget.value)
            widget.observe(lambda _: self.draw(), "value")
        self.choices, self.picture = choices, image()
        super().__init__([ipywidgets.HBox(list(choices.values())), self.picture])
        self.draw()

    def draw(self) -> None:
        self.figure = valleys(**{name: widget.value for name, widget in self.choices.items()})
        self.picture.show(self.figure)


def two_valleys(**start) -> TwoValleys:
    """The sliders, beginning with what is given: two_valleys(period=16)."""
    return TwoValleys(**start)
