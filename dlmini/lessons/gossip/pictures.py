"""The still pictures of lesson 08: rumours, gaps, waves, and workers that stay together or do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dlmini.lessons.gossip.graphs import graph_named
from dlmini.lessons.gossip.runs import Watched
from dlmini.lessons.gossip.spreading import left_after, rumour
from dlmini.show.learning import percent
from dlmini.show.palette import BLACK, BLUE, GREY, HEAT, VERMILION, strokes, themed
from dlmini.show.paper import sheet
from dlmini.topology.graphs import GRAPHS, spectral_gap

SMALL = 1e-16  # what is left of a difference when only rounding is


@themed
def rumours(names: Sequence[str], size: int, rounds: int):
    """What every worker knows of worker 0's news, round by round: a panel per graph. All aim at 1 / N."""
    figure, axes = sheet(2.2 * len(names) + 1.2, 4.0, columns=len(names), sharey=True, squeeze=False)
    for ax, name in zip(axes[0], names, strict=True):
        image = ax.imshow(rumour(name, size, rounds), cmap=HEAT, vmin=0, vmax=2 / size, aspect="auto")
        ax.grid(visible=False)
        ax.set(title=name, xlabel="worker")
    axes[0][0].set_ylabel("round")
    bar = figure.colorbar(image, ax=axes[0], ticks=[0, 1 / size, 2 / size])
    bar.ax.set_yticklabels(["0", "1/N", "2/N or more"])
    return figure


@themed
def gaps(sizes: Sequence[int], names: Sequence[str] = ("complete", "exponential", "torus", "ring")):
    """The spectral gap of graphs as they grow; the grey line is 4 pi^2 / (3 N^2), the ring's law."""
    figure, ax = sheet(8.5, 4.2)
    for name, stroke in zip(names, strokes(len(names)), strict=True):
        found = [spectral_gap(GRAPHS[name](size)) for size in sizes]
        ax.loglog(sizes, found, marker="o", markersize=4, label=name, **stroke)
    ax.loglog(sizes, 4 * np.pi**2 / (3 * np.array(sizes) ** 2), color=GREY, linewidth=1, label="4 π² / (3 N²)")
    ax.set(xlabel="workers N", ylabel="spectral gap")
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
    figure.legend(loc="outside right upper")
    return figure


@themed
def differences(names: Mapping[str, object] | Sequence[str], size: int, rounds: int):
    """What is left of the most stubborn difference, round by round."""
    graphs = dict(names) if isinstance(names, Mapping) else {name: name for name in names}
    figure, ax = sheet(8.5, 4.2)
    for (name, graph), stroke in zip(graphs.items(), strokes(len(graphs)), strict=True):
        ax.semilogy(np.maximum(left_after(graph, size, rounds), SMALL), label=name, **stroke)
    ax.set(xlabel="round", ylabel="difference left", title=f"{size} workers", ylim=(SMALL, 2))
    figure.legend(loc="outside right upper")
    return figure


@themed
def waves(graph, size: int, rounds: int):
    """|eigenvalue| of every wave k in every round; the last row is the product of all: what a cycle leaves.

    For circulant graphs only: the waves exp(2 pi i k r / N) are then eigenvectors of every round.
    """
    K = graph_named(graph)
    each = np.array([np.abs(np.fft.fft(K(size, t)[0])) for t in range(rounds)])
    figure, (top, low) = sheet(9, 5.2, rows=2, sharex=True, height_ratios=(rounds, 2.5))
    image = top.imshow(each, cmap=HEAT, vmin=0, vmax=1, aspect="auto")
    top.grid(visible=False)
    top.set(ylabel="distance s", title=f"what round s leaves of wave k, {size} workers")
    top.set_yticks(range(rounds), [str(t + 1) for t in range(rounds)])
    low.bar(range(1, size), each.prod(axis=0)[1:], color=VERMILION)
    low.set(xlabel="wave k (0 is the mean)", ylabel="all rounds", xlim=(-0.5, size - 0.5))
    figure.colorbar(image, ax=top, label="left")
    return figure


@themed
def bowls(found: Mapping[str, np.ndarray], laws: Mapping[str, np.ndarray] | None = None):
    """Consensus distances on a bowl; laws are drawn in grey."""
    figure, ax = sheet(8.5, 4.2)
    for (name, values), stroke in zip(found.items(), strokes(len(found)), strict=True):
        ax.semilogy(values, label=name, **stroke)
    for name, values in (laws or {}).items():
        ax.semilogy(values, color=GREY, linestyle=":", label=name)
    ax.set(xlabel="step", ylabel="consensus distance")
    figure.legend(loc="outside right upper")
    return figure


@themed
def apart(runs: Mapping[str, Watched]):
    """Left: how far apart workers are. Right: what the mean of all (line) and worker 0 alone (dots) know."""
    figure, axes = sheet(12, 4.2, columns=2)
    for (name, run), stroke in zip(runs.items(), strokes(len(runs)), strict=True):
        epochs = [look.epochs for look in run.looks]
        if max(look.spread for look in run.looks) > 0:  # nothing to draw on a logarithmic axis for those who agree
            axes[0].semilogy(epochs, [look.spread for look in run.looks], **stroke)
        axes[1].plot(epochs, [look.mean for look in run.looks], label=name, **stroke)
        axes[1].plot(epochs, [look.workers[0] for look in run.looks], ".", color=stroke["color"])
    axes[0].set(xlabel="epochs", ylabel="consensus distance")
    axes[1].set(xlabel="epochs", ylabel="test accuracy", title="line: mean of all, dots: worker 0")
    axes[1].yaxis.set_major_formatter(percent())
    figure.legend(*axes[1].get_legend_handles_labels(), loc="outside right upper")
    return figure


@themed
def one_or_mean(runs: Mapping[str, Watched]):
    """A row per run: a dot per worker, and a bar where their mean stands."""
    figure, ax = sheet(10, 1.4 + 0.5 * len(runs))
    for row, run in enumerate(runs.values()):
        last = run.last
        ax.plot(last.workers, [row] * len(last.workers), "o", color=BLUE, alpha=0.4)
        ax.plot(last.workers[0], row, "o", color=BLACK, markersize=4)
        ax.plot([last.mean] * 2, [row - 0.3, row + 0.3], color=VERMILION, linewidth=4)
    ax.set_yticks(range(len(runs)), list(runs))
    ax.set(xlabel="test accuracy: workers (blue; worker 0 black), mean of all (red)", ylim=(len(runs) - 0.5, -0.5))
    ax.xaxis.set_major_formatter(percent())
    return figure
