"""A dashboard where there are no widgets: curves of runs that it has seen or that were recorded, or what it offers."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from dlmini.show.dashboard_replay import told_apart
from dlmini.show.learning import curves, percent
from dlmini.show.live import Drawn
from dlmini.show.palette import GREY, strokes, themed
from dlmini.show.paper import Sheet, sheet
from dlmini.show.recordings import Recorded


def still_of(runs: Sequence[Recorded]) -> Sheet:
    """Loss and accuracy of all runs of a recording that were looked at."""
    looked = {name: run.events for name, run in zip(told_apart([run.label for run in runs]), runs, strict=True)}
    looked = {name: events for name, events in looked.items() if any(hasattr(event, "accuracy") for event in events)}
    figure = curves(looked, by="seconds") if looked else invitation([run.label for run in runs])
    figure.suptitle("A recording of this dashboard", fontsize="medium")
    return figure


@themed
def seen(runs: Sequence[Drawn]) -> Sheet:
    """Training loss and test accuracy of the runs on a dashboard, over their rounds."""
    figure, axes = sheet(11, 4.4, columns=2)
    names = told_apart([run.label for run in runs])
    for ax, what in zip(axes, ("loss", "accuracy"), strict=True):
        for run, name, stroke in zip(runs, names, strokes(len(runs)), strict=True):
            rounds, found = [[row[i] for row in run.board.curves[what]] for i in (0, 3)]
            ax.plot(rounds, found, label=name, marker="." if len(found) < 4 else None, **stroke)
    axes[0].set(xlabel="rounds", ylabel="training loss")
    axes[1].set(xlabel="rounds", ylabel="test accuracy", ylim=(0, 1))
    axes[1].yaxis.set_major_formatter(percent())
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper left")
    return figure


@themed
def invitation(lines: Sequence[str]) -> Sheet:
    """A frame with words in it."""
    figure, axes = sheet(9, 2.2)
    axes.set(xticks=[], yticks=[], title="A live dashboard: in the notebook, Start draws curves here")
    axes.grid(visible=False)
    said = [part for line in lines for part in wrap(line, 90)]
    axes.text(0.02, 0.5, "\n".join(said), transform=axes.transAxes, va="center", color=GREY)
    return figure
