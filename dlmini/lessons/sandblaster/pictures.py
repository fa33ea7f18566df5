"""The pictures of lesson 13."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dlmini.lessons.sandblaster.descents import Path
from dlmini.lessons.sandblaster.handouts import Stretch
from dlmini.sandblaster.costs import evaluation_seconds
from dlmini.show.palette import BLACK, BLUE, CURVES, GREY, PALE, VERMILION, ink_on, themed
from dlmini.show.paper import sheet


@themed
def paths(loss_and_grad, found: Mapping[str, Path], around=((-2.2, 2.2), (-1.2, 2.2))):
    """Ways down a valley from above, and the loss step by step."""
    figure, axes = sheet(12, 4.6, columns=2)
    grid = np.meshgrid(np.linspace(*around[0], 160), np.linspace(*around[1], 120))
    grad = np.zeros(2)
    height = [
        [loss_and_grad(np.array(point), grad) for point in zip(*row, strict=True)] for row in zip(*grid, strict=True)
    ]
    levels = np.geomspace(max(1e-2, np.min(height)), np.max(height), 14)
    axes[0].contour(*grid, height, levels=levels, colors=PALE, linewidths=1.2)
    for (name, path), ink in zip(found.items(), (VERMILION, BLUE, BLACK), strict=False):
        axes[0].plot(*path.points.T, ".-", color=ink, linewidth=1.5, markersize=5, label=name)
        axes[1].plot(np.maximum(path.losses, 1e-16), color=ink, label=f"{name}: {path.gradients} gradients")
    axes[0].set(xlabel="w[0]", ylabel="w[1]", xlim=around[0], ylim=around[1])
    axes[1].set(yscale="log", xlabel="steps", ylabel="loss")
    axes[1].legend()
    return figure


@themed
def handed_out(rows: Mapping[str, tuple[Sequence[Stretch], float]]):
    """Who works on which portion when; pale: a copy that does not count; the line: when all portions count."""
    figure, axes = sheet(12, 0.8 + 1.7 * len(rows), rows=len(rows), sharex=True, squeeze=False)
    for ax, (name, (stretches, end)) in zip(axes[:, 0], rows.items(), strict=True):
        for one in stretches:
            ink = CURVES[one.replica % len(CURVES)] if one.counts else PALE
            ax.barh(one.replica, one.end - one.start, left=one.start, color=ink, edgecolor="white", linewidth=1)
            ax.annotate(str(one.portion), ((one.start + one.end) / 2, one.replica), ha="center", va="center",
                        fontsize="x-small", color=ink_on(ink), clip_on=True)  # fmt: skip
        ax.axvline(end, color=BLACK, linewidth=1.5)
        ax.set(title=f"{name}: {end:g}", ylabel="replica")
        ax.invert_yaxis()
        ax.grid(axis="y", visible=False)
    axes[-1, 0].set_xlabel("time, in portions of a fast replica")
    return figure


@themed
def tails(replicas: int = 5, slower: float = 10.0, many: Sequence[int] = range(15, 201, 5)):
    """Seconds of an evaluation of 1 s of work for all, against the number of portions, with copies and without."""
    figure, ax = sheet(9, 4.4)
    for backup, ink in ((False, VERMILION), (True, BLUE)):
        times = [evaluation_seconds(p, replicas, 1 / p, slower, backup=backup).seconds for p in many]
        ax.plot(list(many), times, ".-", color=ink, label="copies of late portions" if backup else "no copies")
    ideal = 1 / (replicas - 1 + 1 / slower)
    ax.axhline(ideal, color=GREY, linestyle=":", label="if work could be cut at will")
    ax.set(xlabel="portions", ylabel="time of an evaluation", ylim=(0, None))
    ax.legend()
    return figure
