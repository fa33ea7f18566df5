"""The picture of lesson 17: accuracy against what was used, and where the budget ends."""

from __future__ import annotations

from collections.abc import Mapping

from dlmini.leaderboard.judge import Trial
from dlmini.show.learning import percent
from dlmini.show.palette import CURVES, GREY, themed
from dlmini.show.paper import sheet

COSTS = {"megabytes": "MB sent by all", "seconds": "virtual seconds"}


@themed
def under_budget(trials: Mapping[str, Trial]):
    """A curve for each entry; thin where it no longer counts. A panel for bytes, one for seconds."""
    figure, axes = sheet(9.5, 4, columns=2, sharey=True, squeeze=False)
    for ax, (cost, label) in zip(axes[0], COSTS.items(), strict=True):
        for colour, (name, trial) in zip(CURVES, trials.items(), strict=False):
            draw_one(ax, name, trial, cost, colour)
        some = next(iter(trials.values()))
        ax.axvline(some.terms[cost], color=GREY, linestyle="--")
        ax.set(xlabel=f"{label} (dashed: the budget)", xscale="log")
    axes[0, 0].yaxis.set_major_formatter(percent())
    axes[0, 0].set_ylabel("accuracy of worker 0")
    axes[0, 0].legend(loc="lower right")
    return figure


def draw_one(ax, name: str, trial: Trial, cost: str, colour) -> None:
    counted = [look for look in trial.looks if look.counts]
    for looks, style in ((trial.looks, {"alpha": 0.35}), (counted, {"marker": "o", "label": name})):
        ax.plot([getattr(one, cost) for one in looks], [one.accuracy for one in looks], color=colour, **style)
