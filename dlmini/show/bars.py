"""`time_split` and `speed_up`: a bar per row of a comparison.

A row is anything with the named attributes; its name is its `label`, or its `number`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dlmini.checks import row_of, text
from dlmini.show.gantt import key
from dlmini.show.palette import BLACK, CURVES, PALE, PHASE, themed
from dlmini.show.paper import sheet
from dlmini.show.units import unit


def named(row) -> str:
    return str(getattr(row, "label", None) or getattr(row, "number", ""))


def drawn(rows, *signs: str) -> list:
    """Rows of a comparison, if they have what is to be drawn."""
    rows = row_of(rows, "rows", signs, "rows of a comparison, such as configurations.compare gives")
    if not rows:
        raise ValueError("there are no rows to draw; give at least one")
    return rows


def lying(rows: Sequence, width: float = 10.0):
    """Axes with a lying bar's place for each row, the first on top."""
    figure, axes = sheet(width, 2.0 + 0.42 * len(rows))
    axes.set_yticks(range(len(rows)), [named(row) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    return figure, axes


@themed
def time_split(rows: Sequence, title: str = "Where time goes"):
    """Compute, communication and waiting of each row, one after another."""
    rows = drawn(rows, *PHASE)
    figure, axes = lying(rows)
    whole = [sum(getattr(row, phase) for phase in PHASE) for row in rows]
    size, name = unit(max(whole))
    left = [0.0] * len(rows)
    for phase, colour in PHASE.items():
        lengths = [getattr(row, phase) / size for row in rows]
        axes.barh(range(len(rows)), lengths, left=left, color=colour, edgecolor=BLACK, linewidth=0.3, label=phase)
        left = [a + b for a, b in zip(left, lengths, strict=True)]
    axes.set_xlabel(f"time of a worker, {name}")
    axes.set_title(title)
    key(figure)
    return figure


@themed
def speed_up(
    rows: Sequence,
    of: str | Sequence[str] = "communication",
    claims: Mapping[object, tuple[float, float]] | None = None,
    title: str | None = None,
):
    """How many times less of `of` (an attribute, or several) each row needs than the first. Logarithmic.

    claims: for some rows, by their `number`, from how much to how much others have found: a grey band.
    """
    of = (of,) if isinstance(of, str) else tuple(row_of(of, "of", (), "an attribute's name, or several"))
    claims = {} if claims is None else claims
    rows = drawn(rows, *(text(one, "of") for one in of))
    figure, axes = lying(rows)
    for place, row in enumerate(rows):
        if claim := claims.get(getattr(row, "number", None)):
            low, high = claim
            box = {"left": low, "height": 0.9, "edgecolor": BLACK}
            axes.barh(place, high - low, facecolor=PALE, zorder=1.5, **box)
            axes.barh(place, high - low, facecolor="none", linewidth=1.2, zorder=3, **box)
    thick, most = 0.7 / len(of), 1.0
    for i, (what, colour) in enumerate(zip(of, CURVES, strict=False)):
        factors = [getattr(rows[0], what) / (getattr(row, what) or float("nan")) for row in rows]
        places = [place + thick * (i - (len(of) - 1) / 2) for place in range(len(rows))]
        axes.barh(places, factors, height=thick, color=colour, zorder=2, label=what)
        most = max([most, *(f for f in factors if f == f), *(high for _, high in claims.values())])
        write(axes, factors, places)
    axes.set_xscale("log")
    axes.set_xlim(0.7, 2.2 * most)
    axes.xaxis.set_major_formatter(lambda x, _: f"×{x:g}")
    axes.set(xlabel="times less than the first", title=title or f"{' and '.join(of)}: speed-up")
    if len(of) > 1:
        figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=len(of))
    return figure


def write(axes, factors: list[float], places: list[float]) -> None:
    """The number at the end of each bar, readable on whatever lies behind it."""
    paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8}
    for factor, place in zip(factors, places, strict=True):
        if factor == factor:
            words = {"textcoords": "offset points", "va": "center", "zorder": 4, "bbox": paper}
            axes.annotate(f"×{factor:.3g}", (factor, place), (5, 0), **words)
