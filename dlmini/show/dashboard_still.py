"""A dashboard where there are no widgets: the curves of runs that were recorded, or what it would offer."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

from dlmini.show.dashboard_replay import told_apart
from dlmini.show.learning import curves
from dlmini.show.palette import GREY, themed
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
def invitation(lines: Sequence[str]) -> Sheet:
    """A frame with words in it."""
    figure, axes = sheet(9, 2.2)
    axes.set(xticks=[], yticks=[], title="A live dashboard: in the notebook, Start draws curves here")
    axes.grid(visible=False)
    said = [part for line in lines for part in wrap(line, 90)]
    axes.text(0.02, 0.5, "\n".join(said), transform=axes.transAxes, va="center", color=GREY)
    return figure
