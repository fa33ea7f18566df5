"""`pareto`: what is gained against what is paid. A row that is not beaten in both lies on the frontier."""

from __future__ import annotations

from collections.abc import Sequence

from dlmini.checks import text
from dlmini.show.bars import drawn, named
from dlmini.show.learning import percent
from dlmini.show.palette import BLUE, GREY, themed
from dlmini.show.paper import sheet


def frontier(rows: Sequence, cost: str, gain: str) -> list:
    """The rows that no other beats: nobody is cheaper and at least as good. From cheap to dear."""
    kept, best = [], float("-inf")
    for row in sorted(rows, key=lambda r: (getattr(r, cost), -getattr(r, gain))):
        if getattr(row, gain) > best:
            best = getattr(row, gain)
            kept.append(row)
    return kept


def number(axes, points: Sequence[tuple[str, float, float]]) -> None:
    """Names beside points, those of points that nearly meet in one place: one over the other could not be read."""
    axes.autoscale_view()
    places: dict[tuple[float, float], list[str]] = {}
    for name, *point in points:
        x, y = axes.transAxes.inverted().transform(axes.transData.transform(point))
        near = (place for place in places if abs(place[0] - x) < 0.06 and abs(place[1] - y) < 0.045)
        places.setdefault(next(near, (x, y)), []).append(name)
    for place, names in places.items():
        beside = {"xytext": (6, 4), "textcoords": "offset points", "path_effects": [halo()]}
        axes.annotate(", ".join(names), place, xycoords="axes fraction", **beside)


def halo():
    """A white rim around letters, so that lines behind them do not cross them out."""
    from matplotlib.patheffects import withStroke

    return withStroke(linewidth=3, foreground="white")


@themed
def pareto(rows: Sequence, cost: str = "seconds", gain: str = "accuracy", title: str = "What it costs to be right"):
    """A numbered point per row, cheap to the left and good at the top; the frontier is drawn through in blue."""
    rows = drawn(rows, text(cost, "cost"), text(gain, "gain"))
    best = frontier(rows, cost, gain)
    figure, axes = sheet(7 + 0.08 * max(len(named(row)) for row in rows), 5)
    axes.step([getattr(r, cost) for r in best], [getattr(r, gain) for r in best], where="post", color=BLUE, zorder=1)
    for row in rows:
        x, y, on = getattr(row, cost), getattr(row, gain), any(row is b for b in best)
        axes.plot(x, y, "o", color=BLUE if on else GREY, zorder=2, label=named(row))
    costs = [getattr(row, cost) for row in rows]
    axes.set(xlabel=cost, ylabel=gain, title=title, xscale="log" if 0 < 20 * min(costs) < max(costs) else "linear")
    if gain == "accuracy":
        axes.yaxis.set_major_formatter(percent())
    number(
        axes,
        [(str(getattr(row, "number", i)), getattr(row, cost), getattr(row, gain)) for i, row in enumerate(rows, 1)],
    )
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper")
    return figure
