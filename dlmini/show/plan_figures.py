"""Figures of a planned training: where a step goes, who works when, what is sent, what is held. From plain numbers."""

from __future__ import annotations

from collections import Counter

import numpy as np

from dlmini.show.palette import BLUE, CURVES, GREY, ORANGE, PALE, VERMILION, themed
from dlmini.show.paper import sheet

KINDS = {"forward": BLUE, "backward": ORANGE, "weights": GREY}


@themed
def step_parts(parts: dict[str, float]):
    """One bar for each thing that a step's time is spent on."""
    figure, axes = sheet(8, 0.9 + 0.45 * len(parts))
    names, seconds = list(parts), list(parts.values())
    axes.barh(names, seconds, color=BLUE)
    for i, part in enumerate(seconds):
        axes.text(part, i, f" {part:.3g} s, {part / sum(seconds):.0%}", va="center")
    axes.set(xlabel="seconds", title=f"a step: {sum(seconds):.2f} s", xlim=(0, 1.3 * max(seconds)))
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    return figure


@themed
def stage_diagram(slots, ranks: int, chunks: int = 1):
    """A row for each stage's device, time to the right; white is idle. Later chunks are paler."""
    figure, axes = sheet(10, min(8, 1.2 + 0.3 * ranks))
    for kind, colour in KINDS.items():
        for chunk in range(chunks):
            mine = [slot for slot in slots if slot.kind == kind and slot.chunk == chunk]
            axes.barh(
                [slot.rank for slot in mine],
                [slot.end - slot.start for slot in mine],
                left=[slot.start for slot in mine],
                height=0.9,
                color=colour,
                alpha=1 - 0.6 * chunk / chunks,
                edgecolor="white",
                linewidth=0.2 if len(slots) < 4000 else 0,
                label=kind if mine and not chunk else None,
            )
    axes.set(xlabel="seconds", ylabel="place in the pipeline", title="who works when", ylim=(ranks - 0.5, -0.5))
    axes.yaxis.get_major_locator().set_params(integer=True)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper right", ncols=3)
    axes.grid(visible=False)
    return figure


@themed
def message_histogram(rows: list[tuple[str, float, int]], collectives: bool = False):
    """How many messages of which size, or collectives on vectors of which size: both axes by powers of ten."""
    figure, axes = sheet(8, 4)
    kinds, drawn, most = list(dict.fromkeys(what for what, *_ in rows)), Counter(), 1
    for colour, kind in zip(CURVES * len(kinds), kinds, strict=False):
        sizes = Counter()
        for _, nbytes, count in (row for row in rows if row[0] == kind):
            sizes[max(1.0, nbytes)] += count
        found = [(nbytes * 1.04 ** drawn[nbytes], count) for nbytes, count in sizes.items()]  # equal ones side by side
        drawn.update(dict.fromkeys(sizes, 1))
        most = max(most, *sizes.values())
        axes.vlines([n for n, _ in found], 0.5, [count for _, count in found], color=colour, linewidth=5)
        axes.scatter(*zip(*found, strict=True), color=colour, s=60, label=kind)
    told = ("vectors that are sent at once", "bytes of a vector", "collectives in a step")
    title, x, y = told if collectives else ("message sizes", "bytes of a message", "messages of a device, a step")
    axes.set(xscale="log", yscale="log", ylim=(0.5, 30 * most), title=title, xlabel=x, ylabel=y)
    axes.margins(x=0.1)
    axes.legend(ncols=2)
    return figure


@themed
def link_curves(seconds: np.ndarray, load: dict[str, np.ndarray]):
    """The share of each level's links in use, over a step."""
    figure, axes = sheet(9, 3.5)
    for colour, (level, share) in zip((BLUE, VERMILION), load.items(), strict=True):
        axes.fill_between(seconds, 100 * share, color=colour, alpha=0.25, step="mid")
        axes.step(seconds, 100 * share, where="mid", color=colour, label=f"{level}, mean {100 * share.mean():.1f} %")
    axes.set(xlabel="seconds", ylabel="% of a device's link", title="link load", ylim=(0, None))
    axes.legend()
    return figure


@themed
def memory_curve(seconds: np.ndarray, nbytes: np.ndarray, room: float):
    """What the first device of a pipeline holds, over a step, below what it has room for."""
    figure, axes = sheet(9, 3.5)
    full = nbytes.max() > room
    axes.fill_between(seconds, nbytes / 1e9, step="post", color=VERMILION if full else BLUE, alpha=0.3)
    axes.step(seconds, nbytes / 1e9, where="post", color=VERMILION if full else BLUE)
    axes.axhline(room / 1e9, color=GREY, linestyle="--")
    axes.text(seconds[-1], room / 1e9, "room ", ha="right", va="bottom", color=GREY)
    said = "memory of the first device: out of memory" if full else "memory of the first device"
    axes.set(xlabel="seconds", ylabel="GB", title=said, ylim=(0, 1.12e-9 * max(room, nbytes.max())))
    axes.set_facecolor("white")
    axes.grid(color=PALE)
    return figure
