"""The study's figures."""

from __future__ import annotations

from math import isfinite

from dlmini.show.learning import percent
from dlmini.show.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, themed
from dlmini.show.paper import sheet
from dlmini.studies.distbelief.methods import ADAGRAD, ALONE, DOWNPOUR, GRAPHICS, SANDBLASTER
from dlmini.studies.distbelief.published import BEST, GAIN, LARGEST, LARGEST_GAIN

COLOURS = {ALONE: BLACK, GRAPHICS: PURPLE, DOWNPOUR: BLUE, ADAGRAD: VERMILION, SANDBLASTER: GREEN}
MARKS = {ALONE: "s", GRAPHICS: "D", DOWNPOUR: "o", ADAGRAD: "^", SANDBLASTER: "v"}


def figures(found) -> dict:
    drawn = {}
    if found.first:
        drawn["figure_1_accuracy"] = accuracy(found.first, found.form, "virtual seconds")
    if found.second:
        drawn["figure_2_machines"] = machines(found)
    if found.real:
        drawn["processes"] = accuracy(found.real, found.form, "seconds")
    if found.full:
        drawn["scaling"] = scaling(found)
    return drawn


@themed
def accuracy(races, form, clock: str):
    """Accuracy on the test set over time, on a scale of ratios: all methods begin at their first look."""
    figure, ax = sheet(10, 5)
    seen = set()
    few = min((r.replicas for r in races if r.method == ADAGRAD), default=0)
    for race in races:
        colour = ORANGE if race.method == ADAGRAD and race.replicas == few < form.many[1] else COLOURS[race.method]
        dash = "--" if race.method == GRAPHICS else "-"
        x, y = [look.seconds for look in race.looks], [look.accuracy for look in race.looks]
        ax.plot(x, y, color=colour, linestyle=dash, label=None if race.name in seen else race.name)
        seen.add(race.name)
    ax.axhline(form.target, color=GREY, linewidth=1, zorder=1)
    ax.annotate(
        f"target {form.target:.0%}",
        (0, form.target),
        (4, 4),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        color=GREY,
    )
    ax.set(xscale="log", xlabel=clock, ylabel="test accuracy")
    ax.yaxis.set_major_formatter(percent())
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right upper")
    return figure


@themed
def machines(found):
    """Seconds to the target against all machines used, both on scales of ratios; what was not reached is left out."""
    figure, ax = sheet(10, 5)
    for method, colour in COLOURS.items():
        trace = [(m, s) for m, s in found.trace(method) if isfinite(s)]
        if trace:
            ax.plot(*zip(*trace, strict=True), color=colour, marker=MARKS[method], label=method.name)
    ax.set(xscale="log", yscale="log", xlabel="machines, servers and coordinator among them")
    ax.set_ylabel(f"virtual seconds to {found.form.target:.0%}")
    ratios(ax.xaxis, (1, 2, 5, 10, 20, 50, 100, 200))
    ratios(ax.yaxis, (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50))
    ax.minorticks_off()
    figure.legend(*ax.get_legend_handles_labels(), loc="outside right upper")
    return figure


def ratios(axis, numbers) -> None:
    """These numbers at an axis of ratios, where they lie within what is drawn."""
    low, high = axis.get_view_interval()
    shown = [number for number in numbers if low <= number <= high]
    axis.set_ticks(shown, labels=[f"{number:g}" for number in shown])


@themed
def scaling(found):
    """How much faster than one machine: both kinds of network, and the two figures that Dean et al. give."""
    figure, axes = sheet(12, 4.6, columns=2)
    sides = (("fully connected", found.full, (BEST, GAIN)), ("locally connected", found.local, (LARGEST, LARGEST_GAIN)))
    for ax, (title, points, theirs) in zip(axes, sides, strict=True):
        many = [p.machines for p in points]
        ax.plot(many, [p.reckoned for p in points], color=BLUE, label="reckoned")
        ax.plot(many, [p.simulated for p in points], "o", color=BLUE, label="simulated")
        ax.plot(many, [p.jittered for p in points], "^--", color=VERMILION, label="simulated, machines that vary")
        ax.plot(*theirs, "*", color=BLACK, markersize=14, label="Dean et al.")
        ax.set(title=title, xlabel="machines of one replica", ylabel="times as fast as one")
        ax.set_ylim(bottom=0)
    axes[0].set_xscale("log", base=2)
    axes[0].set_xticks(many_of(found.full), [str(m) for m in many_of(found.full)])
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def many_of(points) -> list[int]:
    return [p.machines for p in points]
