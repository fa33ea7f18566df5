"""The pictures of lesson 04: times against size and number of ranks, bytes per port, and both under sliders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import ipywidgets
import numpy as np

from dlmini.comm.network import Link
from dlmini.comm.schedules import cut
from dlmini.lessons.allreduce.costs import FORMULAS, SCHEDULES, bytes_through, seconds
from dlmini.lessons.meet_the_lab.messages import Point
from dlmini.lessons.picture_desk import StillBox, image
from dlmini.show.palette import BLACK, CURVES, GREY, PALE, VERMILION, ink_on, strokes, themed
from dlmini.show.paper import sheet
from dlmini.show.units import BYTES, said

SIZES = tuple(8**k for k in range(3, 10))  # 512 bytes to 128 MB
COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64)


@themed
def races(n: int, nbytes: int, link: Link):
    """Time against size and against ranks: lines are the closed forms, dots are simulated. Dotted: where we stand."""
    figure, axes = sheet(12, 5, columns=2)
    fine = np.geomspace(SIZES[0], SIZES[-1], 100)
    for name, stroke in zip(SCHEDULES, strokes(len(SCHEDULES)), strict=True):
        dot = {"color": stroke["color"], "marker": "o", "linestyle": "", "markersize": 5}
        axes[0].loglog(fine, [FORMULAS[name](n, size, link) for size in fine], **stroke, label=name)
        axes[0].loglog(SIZES, [seconds(name, n, size, link) for size in SIZES], **dot)
        axes[1].loglog(range(2, 65), [FORMULAS[name](p, nbytes, link) for p in range(2, 65)], **stroke)
        axes[1].loglog(COUNTS, [seconds(name, p, nbytes, link) for p in COUNTS], **dot)
    axes[0].axvline(nbytes, color=GREY, linestyle=":")
    axes[1].axvline(n, color=GREY, linestyle=":")
    axes[0].set(xlabel="bytes of the vector", ylabel="seconds", title=f"{n} ranks")
    axes[1].set(xlabel="ranks", title=f"{said(nbytes, BYTES)}", xticks=[2, 4, 8, 16, 32, 64])
    axes[1].set_xticklabels(["2", "4", "8", "16", "32", "64"])
    axes[1].minorticks_off()
    axes[0].legend()
    return figure


@themed
def port_loads(n: int, nbytes: int):
    """Bytes that every rank sends; the line is 2 (N-1)/N S, which somebody must send whatever the algorithm."""
    figure, axes = sheet(12, 3.6, columns=len(SCHEDULES), sharey=True)
    for ax, name in zip(axes, SCHEDULES, strict=True):
        sent = bytes_through(name, n, nbytes)[0] / nbytes
        ax.bar(range(n), sent, color=[VERMILION if s == sent.max() else CURVES[0] for s in sent], edgecolor=BLACK)
        ax.axhline(2 * (n - 1) / n, color=BLACK, linestyle="--", linewidth=1.2)
        ax.set(title=f"{name}\nin all {sent.sum():.3g} S", xlabel="rank", xticks=range(0, n, max(1, n // 8)))
        ax.grid(axis="x", visible=False)
    axes[0].set_ylabel("bytes sent, in S")
    return figure


@themed
def chunk_lengths(cases: Sequence[tuple[int, int]]):
    """How d numbers are cut into N chunks: lengths differ by one at most, and some may be empty."""
    figure, axes = sheet(11, 0.9 + 0.8 * len(cases), rows=len(cases), squeeze=False)
    for ax, (d, n) in zip(axes[:, 0], cases, strict=True):
        edges = cut(d, n)
        for c in range(n):
            length = edges[c + 1] - edges[c]
            colour = CURVES[c % len(CURVES)] if length else PALE
            ax.barh(0, 1, left=c, height=0.8, color=colour, edgecolor="white")
            ax.text(c + 0.5, 0, str(length), ha="center", va="center", color=ink_on(colour))
        ax.set(yticks=[], xticks=[], ylabel=f"d = {d}\nN = {n}", xlim=(0, n))
        ax.grid(visible=False)
    figure.suptitle("numbers in each chunk; grey: empty")
    return figure


@themed
def measured(results: Mapping[str, Sequence[Point]], title: str):
    """What real ranks took: every run a dot, the medians joined."""
    figure, ax = sheet(9, 4.6)
    for (name, points), stroke in zip(results.items(), strokes(len(results)), strict=True):
        sizes = sorted({p.nbytes for p in points})
        middle = [np.median([p.seconds for p in points if p.nbytes == size]) for size in sizes]
        ax.loglog(*np.array(points).T, ".", color=stroke["color"], alpha=0.5)
        ax.loglog(sizes, middle, **stroke, label=name)
    ax.set(xlabel="bytes of the vector", ylabel="seconds on the wall", title=title)
    ax.legend()
    return figure


# ---- by hand ----


class Bench:
    """Sliders for ranks, size, latency and bandwidth; the picture of `races`, and all prices beside formulas."""

    def __init__(self):
        wide = {"continuous_update": False, "style": {"description_width": "initial"}}
        log = ipywidgets.FloatLogSlider
        self.ranks = ipywidgets.SelectionSlider(options=COUNTS, value=16, description="ranks N", **wide)
        self.size = log(value=1e6, min=2, max=8, step=0.5, description="bytes S", readout_format=",.0f", **wide)
        self.latency = log(
            value=1e-4, min=-7, max=-1, step=0.5, description="latency α, s", readout_format=".0e", **wide
        )
        self.speed = log(
            value=1e8, min=6, max=11, step=0.5, description="bandwidth 1/β, B/s", readout_format=".0e", **wide
        )
        self.picture, self.words = image(), ipywidgets.HTML()
        self.sliders = (self.ranks, self.size, self.latency, self.speed)
        for slider in self.sliders:
            slider.observe(lambda _: self.draw(), "value")
        self.draw()

    def draw(self) -> None:
        n, nbytes, link = self.ranks.value, round(self.size.value), Link(self.latency.value, self.speed.value)
        self.words.value = prices(n, nbytes, link)
        self.figure = races(n, nbytes, link)
        self.picture.show(self.figure)

    def box(self) -> ipywidgets.VBox:
        rows = [ipywidgets.HBox(self.sliders[:2]), ipywidgets.HBox(self.sliders[2:])]
        return StillBox([*rows, self.words, self.picture], lambda: self.figure)


def prices(n: int, nbytes: int, link: Link) -> str:
    """A table in HTML: formula and simulation of each, the fastest in bold."""
    found = {name: seconds(name, n, nbytes, link) for name in SCHEDULES}
    best, cells = min(found.values()), []
    for name, took in found.items():
        row = f"{escape(name)}: formula {said(FORMULAS[name](n, nbytes, link))}, simulated {said(took)}"
        cells.append(f"<b>{row}</b>" if took == best else row)
    return "<br>".join(cells)


def allreduce_bench() -> ipywidgets.VBox:
    """Move ranks, size, latency and bandwidth, and see which all-reduce is the fastest."""
    return Bench().box()
