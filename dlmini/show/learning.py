"""`curves`: loss and accuracy of one or several runs, over time, rounds, bytes or epochs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from dlmini.checks import refuse, row_of, word
from dlmini.events import Measured, Round
from dlmini.show.palette import strokes, themed
from dlmini.show.paper import sheet
from dlmini.show.units import BYTES, SECONDS, unit

LONG = 36  # letters of a name in a legend
BY = {"seconds": SECONDS, "bytes": BYTES, "rounds": ((1, "rounds"),), "epochs": ((1, "epochs"),)}
AXIS = {"seconds": "time, ", "bytes": "said by all workers, ", "rounds": "", "epochs": ""}


class Point(NamedTuple):
    """One look at the test set, and how much had been spent until then."""

    rounds: int
    seconds: float
    bytes: int
    loss: float
    accuracy: float


def points(events: Iterable) -> list:
    """The looks among the events, each with the bytes that all workers had said in rounds up to it.

    Rows that are no events, but have the attributes of a Point (or `epochs` in place of rounds), are left as they are.
    """
    events = row_of(events, "the events of a run", (), "a row of events, such as outcome.events")
    looks = [e for e in events if isinstance(e, Measured)]
    if not looks:
        return [e for e in events if hasattr(e, "accuracy")]
    said = sorted((e.t, e.nbytes) for e in events if isinstance(e, Round))
    return [Point(m.t + 1, m.at, sum(n for t, n in said if t <= m.t), m.loss, m.accuracy) for m in looks]


@themed
def curves(
    runs: Mapping[str, Iterable], by: str = "seconds", what: Iterable[str] = ("loss", "accuracy"), colours: int = 7
):
    """One curve per run and per quantity; `runs` maps a name to a run's events, or to rows with the attributes.

    by: seconds (of the transport's own clock), rounds, bytes, or epochs (only rows have those). After `colours`
    curves the colours begin again with another kind of dash.
    """
    word(by, "by", tuple(BY))
    if not isinstance(runs, Mapping) or not runs:
        refuse(TypeError, "runs", runs, "a mapping of names to events, such as {'bsp': outcome.events}")
    seen, what = {name: points(events) for name, events in runs.items()}, tuple(what)
    if empty := [name for name, found in seen.items() if not found]:
        raise ValueError(f"nothing was measured in {', '.join(empty)}: give the recipe a `look`")
    if lacking := [name for name, found in seen.items() if not hasattr(found[0], by)]:
        raise ValueError(f"{', '.join(lacking)}: these points do not know their {by}; draw them by rounds or seconds")
    size, unit_name = unit(max(getattr(found[-1], by) for found in seen.values()), BY[by])
    longest = max(map(len, seen)) if len(seen) > 1 else 0
    below = longest > LONG  # beside the curves such names would take the room of a panel
    aside = 0.8 + 0.08 * longest if longest and not below else 0.0  # inches for the legend
    height = 4.4 + (0.3 * len(seen) if below else 0.0)
    figure, axes = sheet(5.6 * len(what) + aside, height, columns=len(what), squeeze=False)
    for ax, quantity in zip(axes[0], what, strict=True):
        for (name, found), stroke in zip(seen.items(), strokes(len(seen), colours), strict=True):
            x, y = [getattr(p, by) / size for p in found], [getattr(p, quantity) for p in found]
            ax.plot(x, y, label=name, marker="." if len(x) < 4 else None, **stroke)
        ax.set(xlabel=AXIS[by] + unit_name, ylabel=f"test {quantity}")
    if "accuracy" in what:
        axes[0][what.index("accuracy")].yaxis.set_major_formatter(percent())
    if len(seen) > 1:
        figure.legend(
            *axes[0][0].get_legend_handles_labels(), loc="outside " + ("lower left" if below else "right upper")
        )
    return figure


def percent():
    from matplotlib.ticker import PercentFormatter

    return PercentFormatter(1.0)


def reached(events: Iterable, accuracy: float, by: str = "seconds") -> float:
    """How much was spent until the accuracy was first reached, straight between two looks; infinity if it was not."""
    found = points(events)
    if found and found[0].accuracy >= accuracy:
        return float(getattr(found[0], by))
    for before, after in pairwise(found):
        if after.accuracy >= accuracy:
            part = (accuracy - before.accuracy) / (after.accuracy - before.accuracy)
            return getattr(before, by) + part * (getattr(after, by) - getattr(before, by))
    return float("inf")
