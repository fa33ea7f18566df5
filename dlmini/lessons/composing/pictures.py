"""The pictures of lesson 11: fronts by network, who wins where, how levels meddle, and what fits together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dlmini.comm.network import PRESETS
from dlmini.lessons.composing.runs import Trained
from dlmini.lessons.composing.winners import HOW_BRIEFLY, WHEN, WITH_WHOM, fitting, race
from dlmini.show.frontier import frontier, halo
from dlmini.show.learning import percent
from dlmini.show.palette import BLACK, BLUE, CURVES, GREY, HEAT, PALE, strokes, themed
from dlmini.show.paper import sheet

MARKED = ("gigabit", "ten_gigabit", "infiniband", "home_internet")  # presets that are a plain switch
FEW = 0.6  # of a map's colours: white letters above, black below
LAND = {"origin": "lower", "aspect": "auto", "extent": (-6, 0, 5, 11)}  # powers of ten: seconds, bytes/s
ERROR = 0.009  # one standard error of an accuracy of 0.8 on 2,000 pictures


@themed
def fronts(tables: Mapping[str, Sequence], gain: str = "accuracy"):
    """A panel for each network: a numbered point per row, and the front in blue. Seconds are logarithmic."""
    figure, axes = sheet(
        10.5, 3.9 * -(-len(tables) // 2), -(-len(tables) // 2), min(2, len(tables)), sharey=True, squeeze=False
    )
    for ax in axes.flat[len(tables) :]:
        ax.set_visible(False)
    for ax, (name, rows) in zip(axes.flat, tables.items(), strict=False):
        best = frontier(rows, "seconds", gain)
        ax.step([r.seconds for r in best], [getattr(r, gain) for r in best], where="post", color=BLUE, zorder=1)
        top = max(getattr(row, gain) for row in rows)
        ax.axhspan(top - ERROR, top, color=PALE, zorder=0)
        for row in rows:
            on = any(row is one for one in best)
            ax.plot(row.seconds, getattr(row, gain), "o", color=BLUE if on else GREY, markersize=7)
        for (x, y), numbers in together(rows, gain).items():
            near = {"xytext": (6, 4), "textcoords": "offset points", "path_effects": [halo()]}
            ax.annotate(", ".join(numbers), (x, y), **near)
        ax.set(title=name, xlabel="seconds", xscale="log")
        low, high = (f(r.seconds for r in rows) for f in (min, max))
        ax.set_xlim(low / 1.3, max(high * 1.5, 3 * low))
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        ax.xaxis.set_minor_formatter(lambda x, _: f"{x:g}" if f"{x:e}"[0] in "25" else "")
    axes[0, 0].yaxis.set_major_formatter(percent())
    for ax in axes[:, 0]:
        ax.set_ylabel(gain)
    return figure


def together(rows: Sequence, gain: str) -> dict[tuple[float, float], list[str]]:
    """The numbers of rows, those of points that nearly meet in one place."""
    places: dict[tuple[float, float], list[str]] = {}
    seconds, gains = [row.seconds for row in rows], [getattr(row, gain) for row in rows]
    wide, tall = np.log(max(3.0, max(seconds) / min(seconds))), max(gains) - min(gains)
    for row in rows:
        here = row.seconds, getattr(row, gain)
        near = (p for p in places if abs(np.log(p[0] / here[0])) < 0.08 * wide and abs(p[1] - here[1]) < 0.05 * tall)
        places.setdefault(next(near, here), []).append(str(row.number))
    return places


@themed
def wins(worlds: Mapping[str, tuple[Mapping[object, Trained], float]], points: int = 120):
    """Latency against bandwidth: whose colour is it? A panel for each world, (runs, goal). Dots: networks we know."""
    figure, axes = sheet(6.2 * len(worlds), 5, columns=len(worlds), sharey=True, squeeze=False)
    latency, bandwidth = np.geomspace(1e-6, 1, points), np.geomspace(1e5, 1e11, points)
    firsts = {title: race(runs, target, latency[None, :], bandwidth[:, None]).argmin(axis=0)
              for title, (runs, target) in worlds.items()}  # fmt: skip
    labels = {title: [run.row.label for run in runs.values()] for title, (runs, _) in worlds.items()}
    winners = {labels[title][i] for title, first in firsts.items() for i in np.unique(first)}
    colours = dict(zip(sorted(winners, key=lambda label: int(label.split()[0])), pastels(), strict=False))
    for ax, (title, first) in zip(axes[0], firsts.items(), strict=True):
        ax.imshow(np.array([colours.get(label, (1, 1, 1)) for label in labels[title]])[first], **LAND)
        write_winners(ax, first, [label.split()[0] for label in labels[title]])
        mark_networks(ax)
        ax.set(title=f"{title}: first at {worlds[title][1]:.0%}", xlabel="latency")
        ax.set_xticks(range(-6, 1, 1), ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"])
        ax.grid(visible=False)
    axes[0, 0].set_yticks(range(5, 12), ["100 kB/s", "1 MB/s", "10 MB/s", "100 MB/s", "1 GB/s", "10 GB/s", "100 GB/s"])
    axes[0, 0].set_ylabel("bandwidth")
    patches(figure, colours)
    return figure


def pastels() -> list[tuple[float, ...]]:
    """The house's colours, half white: letters are read on them. When they are used up, the same with a little less."""
    from matplotlib.colors import to_rgb

    return [tuple(white + (1 - white) * c for c in to_rgb(name)) for white in (0.45, 0.75, 0.1) for name in CURVES[:6]]


def patches(figure, colours: Mapping[str, Sequence[float]]) -> None:
    from matplotlib.patches import Patch

    figure.legend([Patch(color=c) for c in colours.values()], list(colours), loc="outside lower center", ncols=3)


def write_winners(ax, first: np.ndarray, numbers: Sequence[str]) -> None:
    """The winner's number in the middle of its land."""
    size = len(first)
    for i in np.unique(first):
        rows, columns = np.nonzero(first == i)
        if len(rows) > size * size / 150:
            near = np.hypot(rows - rows.mean(), columns - columns.mean()).argmin()
            x, y = -6 + 6 * columns[near] / size, 5 + 6 * rows[near] / size
            paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 2}
            ax.text(x, y, numbers[i], ha="center", va="center", weight="bold", bbox=paper)


def mark_networks(ax) -> None:
    for name in MARKED:
        link = PRESETS[name].link
        x, y = np.log10(link.latency), np.log10(link.upload or link.bandwidth)
        ax.plot(x, y, "o", color="white", markeredgecolor=BLACK, markersize=8)
        paper = {"facecolor": PALE, "edgecolor": "none", "alpha": 0.8, "pad": 1}
        words = {"xytext": (7, -12), "textcoords": "offset points", "fontsize": "small", "bbox": paper}
        ax.annotate(name.replace("_", " "), (x, y), **words)


@themed
def meddling(worlds: Mapping[str, Mapping[int, Trained]]):
    """Accuracy against the period, a line for each way to talk: parallel if the levels were independent."""
    figure, axes = sheet(5 * len(worlds), 4, columns=len(worlds), sharey=True, squeeze=False)
    ways = {"all-reduce": (1, 4, 7, 10), "gossip": (2, 5, 8), "gossip, 5 %": (3, 6, 9)}
    for ax, (title, runs) in zip(axes[0], worlds.items(), strict=True):
        for (name, numbers), stroke in zip(ways.items(), strokes(3), strict=True):
            rows = [runs[n].row for n in numbers]
            ax.plot([r.period for r in rows], [r.accuracy for r in rows], "o-", color=stroke["color"], label=name)
        ax.set(title=title, xlabel="period p", xscale="log")
        ax.set_xticks([1, 4, 16, 32], ["1", "4", "16", "32"])
        ax.minorticks_off()
    axes[0, 0].yaxis.set_major_formatter(percent())
    axes[0, 0].set_ylabel("accuracy of the mean worker")
    axes[0, 0].legend()
    return figure


@themed
def what_fits():
    """When × with whom: in how many of the ways to be brief the three fit together."""
    counts = fitting()
    figure, ax = sheet(11, 4.6)
    drawn = ax.imshow(counts, cmap=HEAT, vmin=0, vmax=len(HOW_BRIEFLY), aspect="auto")
    for (i, j), count in np.ndenumerate(counts):
        dark = count < FEW * len(HOW_BRIEFLY)
        ax.text(j, i, count or "–", ha="center", va="center", color="white" if dark else BLACK)
    ax.set_xticks(range(len(WITH_WHOM)), [brief(t) for t in WITH_WHOM], rotation=30, ha="right")
    ax.set_yticks(range(len(WHEN)), [type(s).__name__ for s in WHEN])
    ax.grid(visible=False)
    figure.colorbar(drawn, ax=ax, label=f"of {len(HOW_BRIEFLY)} compressors")
    ax.set_title(f"{counts.sum()} of {counts.size * len(HOW_BRIEFLY)} combinations train; – : refused")
    return figure


def brief(topology) -> str:
    return type(topology).__name__ + (
        " of weights" if topology.sends == "weights" and hasattr(topology, "what") else ""
    )


@themed
def gains(tables: Mapping[str, Sequence], first: int = 1):
    """How many times faster than configuration `first` each is, in all: a line for each network."""
    figure, ax = sheet(9, 4.2)
    for (name, rows), colour in zip(tables.items(), CURVES, strict=False):
        whole = next(r.seconds for r in rows if r.number == first)
        ax.plot([str(r.number) for r in rows], [whole / r.seconds for r in rows], "o-", color=colour, label=name)
    ax.axhspan(2, 3, color=PALE, zorder=0)
    ax.set(yscale="log", xlabel="configuration", ylabel=f"times faster than {first}, in all")
    ax.yaxis.set_major_formatter(lambda x, _: f"×{x:g}")
    figure.legend(loc="outside right upper")
    return figure
