"""The pictures of lesson 06: staleness, who is how far ahead, the heavy ball, accuracy over virtual seconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ipywidgets
import numpy as np

from dlmini.lessons.asynchrony.pushes import GRADIENT, lead, pace, raced, small_task, staleness
from dlmini.lessons.picture_desk import image
from dlmini.outcome import Outcome
from dlmini.show.gantt import timeline
from dlmini.show.learning import percent
from dlmini.show.palette import BLACK, BLUE, GREY, VERMILION, strokes, themed
from dlmini.show.paper import sheet
from dlmini.show.stills import WithStill
from dlmini.sync import Asynchronous, BulkSynchronous, PartlySynchronous, StaleSynchronous


@themed
def staleness_histogram(runs: Mapping[str, Sequence[int]], mean: float | None = None):
    """How many pushes were how old, one panel per run; dotted: the mean that the law predicts."""
    figure, axes = sheet(4 * len(runs), 3.6, columns=len(runs), squeeze=False)
    for ax, (name, ages) in zip(axes[0], runs.items(), strict=True):
        ages = np.asarray(ages)
        ax.bar(np.arange(ages.max() + 1), np.bincount(ages) / len(ages), color=BLUE, width=0.9)
        ax.axvline(ages.mean(), color=VERMILION, label=f"mean {ages.mean():.2f}")
        if mean is not None:
            ax.axvline(mean, color=BLACK, linestyle=":", label=f"N − 1 = {mean:g}")
        ax.set(xlabel="staleness", title=name)
        ax.legend(fontsize="small")
    axes[0, 0].set_ylabel("share of pushes")
    return figure


@themed
def leads(runs: Mapping[str, Outcome]):
    """How many rounds the fastest is ahead of the slowest, over virtual time."""
    figure, ax = sheet(9, 4)
    for (name, outcome), stroke in zip(runs.items(), strokes(len(runs)), strict=True):
        ax.step(*lead(outcome), where="post", label=name, **stroke)
    ax.set(xlabel="virtual seconds", ylabel="fastest − slowest, rounds")
    figure.legend(loc="outside right upper")
    return figure


@themed
def momenta(paths: np.ndarray, ball: np.ndarray, alone: np.ndarray):
    """Some runs, their mean, the heavy ball that the law predicts, and plain descent."""
    figure, ax = sheet(9, 4.2)
    for path in paths[:12]:
        ax.plot(path, color=GREY, linewidth=0.6, alpha=0.6)
    ax.plot(paths.mean(axis=0), color=BLUE, label=f"mean of {len(paths)} asynchronous runs")
    ax.plot(ball, "--", color=VERMILION, label="momentum 1 − 1/N")
    ax.plot(alone, ":", color=BLACK, label="one worker")
    ax.set(xlabel="steps of the server", ylabel="w", ylim=(-2, 2))
    figure.legend(loc="outside right upper")
    return figure


@themed
def by_seconds(runs: Mapping[str, Outcome]):
    """Test accuracy over rounds, and over virtual seconds: two different stories."""
    figure, axes = sheet(12, 4.2, columns=2, sharey=True)
    for (name, outcome), stroke in zip(runs.items(), strokes(len(runs)), strict=True):
        seen = outcome.measured
        axes[0].plot([m.t + 1 for m in seen], [m.accuracy for m in seen], label=name, **stroke)
        axes[1].plot([m.at for m in seen], [m.accuracy for m in seen], **stroke)
    axes[0].set(xlabel="rounds of worker 0", ylabel="test accuracy")
    axes[1].set(xlabel="virtual seconds")
    axes[0].yaxis.set_major_formatter(percent())
    figure.legend(loc="outside right upper")
    return figure


SYNCS = {
    "bulk-synchronous": lambda bound: BulkSynchronous(),
    "stale-synchronous": StaleSynchronous,
    "partly synchronous": lambda bound: PartlySynchronous(max(1, bound)),
    "asynchronous": lambda bound: Asynchronous(),
}


class SlowWorker(WithStill, ipywidgets.VBox):
    """Sliders over a few rounds: their timeline, and the staleness of every push."""

    def __init__(self, **start):
        self.choices = {
            "sync": ipywidgets.Dropdown(options=list(SYNCS), description="synchronisation"),
            "bound": ipywidgets.IntSlider(3, 0, 10, description="bound"),
            "workers": ipywidgets.IntSlider(4, 2, 8, description="workers"),
            "slower": ipywidgets.FloatSlider(5.0, min=1.0, max=8.0, step=0.5, description="worker 1 slower ×"),
            "jitter": ipywidgets.FloatSlider(0.0, min=0.0, max=1.0, step=0.1, description="jitter"),
        }
        for name, widget in self.choices.items():
            widget.style.description_width = "initial"
            if hasattr(widget, "continuous_update"):
                widget.continuous_update = False
            widget.value = start.get(name, widget.value)
            widget.observe(lambda _: self.draw(), "value")
        self.task, self.time, self.ages = small_task(), image(), image()
        self.picture = self.time
        box = ipywidgets.Box(list(self.choices.values()), layout=ipywidgets.Layout(flex_flow="row wrap"))
        super().__init__([box, self.time, self.ages])
        self.draw()

    def draw(self) -> None:
        chosen = {name: widget.value for name, widget in self.choices.items()}
        sync, n = SYNCS[chosen.pop("sync")](chosen.pop("bound")), chosen["workers"]
        run = raced(self.task, sync, rounds=12, spans=True, **chosen)
        title = f"{sync!r}: {pace(run):.0f} pushes per second, {n / GRADIENT:.0f} if none were slow"
        self.figure = timeline(run.events, title=title)
        self.ages.show(staleness_histogram({"staleness of pushes": staleness(run)}, n - 1))
        self.time.show(self.figure)


def slow_worker(**start) -> SlowWorker:
    """The sliders, beginning with what is given: slow_worker(sync="asynchronous", slower=3)."""
    return SlowWorker(**start)
