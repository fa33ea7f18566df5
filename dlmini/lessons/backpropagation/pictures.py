"""The still pictures of lesson 01: a neuron's chain, the vector of all parameters, differences, descents, noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dlmini.lessons.backpropagation.batches import Noise
from dlmini.lessons.backpropagation.descent import Look
from dlmini.lessons.backpropagation.neuron import Neuron
from dlmini.nn import Model
from dlmini.show.palette import BLACK, BLUE, CURVES, GREY, VERMILION, strokes, themed
from dlmini.show.paper import sheet

PLACES = {"x": (0, 2), "w": (0, 1), "b": (0, 0), "z": (1.3, 1), "y": (2.6, 1), "L": (3.9, 1)}
ARROWS = (("x", "z", ""), ("w", "z", "w x + b"), ("b", "z", ""), ("z", "y", "max(z, 0)"), ("y", "L", "(y − t)² / 2"))


@themed
def chain(neuron: Neuron):
    """Values go from left to right, slopes from right to left."""
    figure, ax = sheet(9, 3.4)
    for start, end, rule in ARROWS:
        a, b = np.array(PLACES[start], float), np.array(PLACES[end], float)
        ax.annotate("", b - 0.26 * (b - a) / np.linalg.norm(b - a), a, arrowprops={"arrowstyle": "->", "color": GREY})
        ax.annotate(rule, (a + b) / 2 + (0, 0.12), ha="center", color=GREY)
    for name, place in PLACES.items():
        ax.plot(*place, "o", markersize=30, color="white", markeredgecolor=BLACK, zorder=3)
        ax.annotate(name, place, ha="center", va="center", zorder=4)
        ax.annotate(f"{neuron.values[name]:.3g}", place, (0, 20), textcoords="offset points", ha="center", color=BLUE)
        slope = f"∂L/∂{name} = {neuron.slopes[name]:.3g}"
        ax.annotate(slope, place, (0, -30), textcoords="offset points", ha="center", color=VERMILION)
    ax.set(
        xlim=(-0.5, 4.4), ylim=(-0.6, 2.5), title=f"values in blue, slopes in red; the target t is {neuron.target:g}"
    )
    ax.axis("off")
    return figure


@themed
def one_vector(model: Model, w: np.ndarray, grad: np.ndarray):
    """The parameters and their gradient, each as the one row of numbers that it is."""
    figure, axes = sheet(11, 3.4, rows=2, sharex=True)
    for ax, vector, name in zip(axes, (w, grad), ("w", "gradient"), strict=True):
        ax.plot(vector, color=BLACK, linewidth=0.5)
        ax.set(ylabel=name, xlim=(0, model.size))
        start = 0
        for i, (layer, part) in enumerate((n, p) for n, p in zip(model.layers, model.parts, strict=True) if p):
            for kind, shape in zip("wb", part, strict=True):
                end = start + int(np.prod(shape))
                ax.axvspan(start, end, color=CURVES[i % len(CURVES)], alpha=0.3 if kind == "w" else 0.75, linewidth=0)
                if ax is axes[0] and kind == "w":
                    ax.annotate(f"{layer.__class__.__name__} {i + 1}: {'×'.join(map(str, shape))}, then its bias",
                                (start, 1.02), xycoords=("data", "axes fraction"), fontsize="small")  # fmt: skip
                start = end
    axes[1].set_xlabel(f"number of the parameter, of {model.size:,}")
    return figure


@themed
def step_sizes(steps: Sequence[float], errors: Mapping[str, np.ndarray]):
    """How wrong a difference is, for every step h."""
    figure, ax = sheet(8.5, 4.4)
    for (name, found), stroke in zip(errors.items(), strokes(len(errors)), strict=True):
        ax.loglog(steps, np.maximum(found, 1e-17), marker="o", label=name, **stroke)
    ax.set(xlabel="step h", ylabel="relative error of the slope", ylim=(1e-12, 10))
    figure.legend(loc="outside right upper")
    return figure


@themed
def descents(runs: Mapping[str, Sequence[Look]], by: Sequence[str] = ("passes", "updates", "seconds")):
    """The loss of each run, over what it has cost."""
    words = {"passes": "passes over the data", "updates": "updates", "seconds": "seconds on this machine"}
    figure, axes = sheet(4.2 * len(by) + 1.6, 3.9, columns=len(by), sharey=True, squeeze=False)
    for ax, cost in zip(axes[0], by, strict=True):
        for (name, looks), stroke in zip(runs.items(), strokes(len(runs)), strict=True):
            seen = [look for look in looks if getattr(look, cost) > 0]
            ax.plot([getattr(k, cost) for k in seen], [k.loss for k in seen], label=name, **stroke)
        ax.set(xlabel=words[cost], xscale="log", yscale="log")
    axes[0][0].set_ylabel("loss over all points")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside right upper")
    return figure


@themed
def noise(rows: Sequence[Noise]):
    """Squared distance of a batch's gradient from that of all data: the formula's line, the measured points."""
    figure, ax = sheet(7, 4)
    sizes = [row.batch for row in rows]
    ax.loglog(sizes, [row.formula for row in rows], color=GREY, label="formula")
    ax.errorbar(sizes, [row.measured for row in rows], [4 * row.error for row in rows], fmt="o", color=BLUE,
                label="measured, ± 4 standard errors")  # fmt: skip
    ax.set(xlabel="batch size B", ylabel="mean of |g_B − g|²")
    ax.legend()
    return figure
