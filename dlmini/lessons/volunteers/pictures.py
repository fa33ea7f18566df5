"""The pictures of lesson 15."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dlmini.lessons.volunteers.units import Step, Tally, lies_accepted
from dlmini.show.palette import BLACK, BLUE, CURVES, GREEN, GREY, PALE, PURPLE, SKY, VERMILION, YELLOW, edge, themed
from dlmini.show.paper import sheet

INK = {"unsent": PALE, "sent": SKY, "success": GREEN, "error": VERMILION, "no reply": YELLOW}
INK |= {"invalid": PURPLE, "not needed": GREY}


@themed
def a_life(steps: Sequence[Step], end: str):
    """A unit's copies, event by event: a column each, coloured by state; below it the event, above it the orders."""
    rows = max(len(step.copies) for step in steps)
    figure, ax = sheet(12, 1.8 + 0.5 * rows)
    for x, step in enumerate(steps):
        for y, state in enumerate(step.copies):
            ax.barh(y, 0.9, left=x - 0.45, height=0.8, color=INK[state], **edge(INK[state]))
        said = "\n".join(what for what, *_ in step.orders)
        ax.annotate(said, (x, rows - 0.3), ha="center", va="bottom", fontsize="x-small", annotation_clip=False)
    named = ["\n".join(map(str, step.event[:2])) for step in steps]
    ax.set_xticks(range(len(steps)), named)
    ax.tick_params(axis="x", labelsize="x-small", length=0)
    ax.set(ylabel="copy", yticks=range(rows), ylim=(-0.6, rows + 0.4), title=f"a unit's life; its answer: {end}")
    ax.grid(visible=False)
    from matplotlib.patches import Patch

    seen = [state for state in INK if any(state in step.copies for step in steps)]
    ax.legend(
        [Patch(facecolor=INK[state], **edge(INK[state])) for state in seen],
        seen,
        ncols=1,
        loc="center left",
        bbox_to_anchor=(1, 0.5),
    )
    return figure


@themed
def quorums(found: Mapping[int, Mapping[float, Tally]], units: int):
    """Left: lies accepted against the share of liars, measured (points) and by formula. Right: copies of a unit."""
    figure, (left, right) = sheet(12, 4.4, columns=2)
    grid = np.linspace(0, 0.5, 60)
    for (quorum, row), ink in zip(found.items(), CURVES, strict=False):
        dash = "--" if quorum % 2 and quorum > 1 else "-"  # it lies on the curve of the quorum before
        formula = [100 * lies_accepted(quorum, p) for p in grid]
        left.plot(100 * grid, formula, dash, color=ink, label=f"quorum {quorum}")
        left.plot([100 * p for p in row], [100 * tally.wrong / units for tally in row.values()], "o", color=ink)
        right.plot([100 * p for p in row], [tally.copies for tally in row.values()], "o-", color=ink)
    left.set(xlabel="hosts that lie, %", ylabel="units with a lie for an answer, %")
    right.set(xlabel="hosts that lie, %", ylabel="copies sent out for a unit", ylim=(0, None))
    left.legend()
    return figure


@themed
def rounds(found: Mapping, title: str = ""):
    """Accuracy after each round, a curve for each federation."""
    figure, ax = sheet(9, 4.4)
    for run, ink in zip(found.values(), CURVES, strict=False):
        ax.plot(range(1, 1 + len(run.accuracies)), [100 * a for a in run.accuracies], ".-", color=ink, label=run.name)
    ax.set(xlabel="rounds", ylabel="test accuracy, %", ylim=(0, 100), title=title)
    ax.legend(loc="best")  # at the bottom lies the curve of what does not learn
    return figure


@themed
def from_above(honest: np.ndarray, lies: np.ndarray, outcomes: Mapping[str, np.ndarray]):
    """Updates seen from above: across, how far along the honest mean; up, how far from that line."""
    figure, ax = sheet(9, 4.6)
    mean = honest.mean(axis=0)
    way = mean / np.linalg.norm(mean)

    def place(updates):
        along = updates @ way
        return along, np.linalg.norm(updates - np.outer(along, way), axis=1)

    ax.plot(*place(honest), "o", color=BLUE, label="honest")
    ax.plot(*place(np.atleast_2d(lies)), "X", color=VERMILION, markersize=18, label="lies")
    for (name, update), mark in zip(outcomes.items(), ("s", "^", "D", "v", "P", "*"), strict=False):
        ax.plot(*place(update[None]), mark, color=BLACK, markersize=9, label=name)
    ax.axvline(0, color=GREY, linestyle=":")
    ax.set(xlabel="along the honest mean (left of 0: uphill)", ylabel="beside it")
    ax.legend(ncols=2, fontsize="small")
    return figure
