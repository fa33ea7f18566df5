"""The still pictures of lesson 03: distances, the mean and the sum, batches, the slowest of N, scaling, a classroom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dlmini.lessons.data_parallelism.classroom import Published
from dlmini.lessons.data_parallelism.costs import Step, best_number, predicted
from dlmini.lessons.data_parallelism.workers import Point
from dlmini.show.learning import percent
from dlmini.show.palette import BLACK, BLUE, GREY, PHASE, VERMILION, strokes, themed
from dlmini.show.paper import sheet


@themed
def distances(found: Mapping[str, np.ndarray], rounding: Mapping[str, float]):
    """How far apart two trainings are after each step; the grey lines are one rounding."""
    figure, ax = sheet(8.5, 3.9)
    for (name, values), stroke in zip(found.items(), strokes(len(found)), strict=True):
        ax.semilogy(np.arange(1, len(values) + 1), values, label=name, **stroke)
    for name, size in rounding.items():
        ax.axhline(size, color=GREY, linewidth=1, linestyle=":")
        ax.annotate(name, (1, size), (0, -14), textcoords="offset points", color=GREY, fontsize="small")
    ax.set(xlabel="step", ylabel="distance / way made", ylim=(1e-18, 1))
    figure.legend(loc="outside right upper")
    return figure


@themed
def mean_or_sum(mean: Mapping[str, Sequence[float]], total: Mapping[str, Sequence[float]]):
    """The loss along the way, for several numbers of workers: with the mean of gradients, and with the sum."""
    figure, axes = sheet(10, 3.9, columns=2, sharey=True)
    for ax, runs, title in zip(axes, (mean, total), ("the mean of gradients", "the sum of gradients"), strict=True):
        for (name, losses), stroke in zip(runs.items(), strokes(len(runs)), strict=True):
            ax.plot(np.arange(1, len(losses) + 1), losses, label=name, **stroke)
        ax.axhline(np.log(10), color=GREY, linewidth=1, linestyle=":")
        ax.set(xlabel="step", title=title, yscale="log")
    axes[0].annotate("knows nothing: log 10", (1, np.log(10)), (0, 4), textcoords="offset points", color=GREY)
    axes[0].set_ylabel("loss")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper")
    return figure


@themed
def by_epochs_and_steps(runs: Mapping[str, Sequence[Point]]):
    """Accuracy over what was read, and over how often was stepped."""
    figure, axes = sheet(11.5, 4.2, columns=2, sharey=True)
    words = {"epochs": "epochs (what was read)", "rounds": "steps (how often all have met)"}
    for ax, by in zip(axes, words, strict=True):
        for (name, points), stroke in zip(runs.items(), strokes(len(runs)), strict=True):
            ax.plot([getattr(p, by) for p in points], [p.accuracy for p in points], label=name, **stroke)
        ax.set(xlabel=words[by], xscale="log" if by == "rounds" else "linear")
    axes[0].set_ylabel("test accuracy")
    axes[0].yaxis.set_major_formatter(percent())
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper")
    return figure


@themed
def slowest_of(machines: Sequence[int], formula: Sequence[float], drawn: Mapping[str, Sequence[float]]):
    """How long a step takes if each machine takes 1 on average, and which share of it is waiting."""
    figure, axes = sheet(11.5, 4.2, columns=2)
    axes[0].plot(machines, formula, color=GREY, label="H_N")
    axes[1].plot(machines, [1 - 1 / value for value in formula], color=GREY)
    for (name, values), stroke in zip(drawn.items(), strokes(len(drawn)), strict=True):
        dots = {"marker": "o", "linestyle": "none", "color": stroke["color"]}
        axes[0].plot(machines, values, label=name, **dots)
        axes[1].plot(machines, [1 - 1 / value for value in values], **dots)
    axes[1].axhline(0.5, color=BLACK, linewidth=1, linestyle=":")
    axes[1].annotate("waits as long as it computes", (1, 0.51), fontsize="small")
    for ax, name in zip(axes, ("a step, in mean compute times", "share of waiting"), strict=True):
        ax.set(xlabel="machines N", ylabel=name, xscale="log")
        ax.set_xticks(machines, [str(n) for n in machines])
        ax.minorticks_off()
    axes[1].yaxis.set_major_formatter(percent())
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper")
    return figure


@themed
def scaling(alone: float, nbytes: int, strong: Sequence[Step], weak: Sequence[Step]):
    """Left: a step of a fixed batch, formula and simulation. Right: examples per second, against one machine."""
    figure, axes = sheet(11.5, 4.6, columns=2)
    n, many = np.arange(1, 65), [int(row.label) for row in strong]
    axes[0].loglog(n, 1e3 * predicted(n, alone, nbytes), color=BLUE, label="T(N), formula")
    axes[0].loglog(many, [1e3 * row.seconds for row in strong], "o", color=VERMILION, label="simulated")
    axes[0].loglog(n, 1e3 * alone / n, color=GREY, linestyle="--", label="T₁ / N, compute")
    talk = predicted(n, 0.0, nbytes)
    axes[0].loglog(n[1:], 1e3 * talk[1:], color=GREY, linestyle=":", label="communication")
    axes[0].axvline(best := best_number(alone, nbytes), color=BLACK, linewidth=1)
    axes[0].annotate(f"N* = {best:.1f}", (best, 1e3 * alone), (5, -5), textcoords="offset points")
    axes[0].set(ylabel="a step of the fixed batch, ms", title="strong scaling")
    axes[1].loglog(n, n, color=GREY, linestyle="--", label="ideal")
    axes[1].loglog(n, n * alone / predicted(n, alone, nbytes, strong=False), color=BLUE)
    axes[1].loglog(n, alone / predicted(n, alone, nbytes), color=BLUE, linestyle="-.")
    axes[1].loglog(
        many, [int(r.label) * alone / r.seconds for r in weak], "s", color=VERMILION, label="batch grows (weak)"
    )
    axes[1].loglog(many, [alone / r.seconds for r in strong], "o", color=VERMILION, label="batch fixed (strong)")
    axes[1].set(ylabel="examples per second, × one machine", title="speed-up")
    for ax in axes:
        ax.set_xlabel("machines N")
        ax.set_xticks(ticks := [1, 2, 4, 8, 16, 32, 64], [str(t) for t in ticks])
        ax.minorticks_off()
        ax.legend(fontsize="small")
    return figure


@themed
def epochs(rows: Mapping[str, Published]):
    """Bars of an epoch: what is computed, and what is synchronised."""
    figure, ax = sheet(10, 1.6 + 0.42 * len(rows))
    compute = [row.epoch - row.synchronisation for row in rows.values()]
    ax.barh(range(len(rows)), compute, color=PHASE["compute"], label="compute")
    ax.barh(range(len(rows)), [row.synchronisation for row in rows.values()], left=compute, color=VERMILION,
            hatch="//", edgecolor=PHASE["waiting"], label="synchronisation (communication and waiting)")  # fmt: skip
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.set_xlabel("an epoch of six computers, s")
    ax.grid(axis="y", visible=False)
    figure.legend(loc="outside lower center", ncols=2)
    return figure
