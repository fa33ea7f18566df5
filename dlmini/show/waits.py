"""`wait_graph`: who waits for whom when nobody can go on. A circle of arrows is a deadlock."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi, sin

from dlmini.checks import row_of
from dlmini.files import CELL_FILE
from dlmini.show.palette import BLACK, BLUE, GREY, PALE, VERMILION, themed
from dlmini.show.paper import sheet


def circle(waits: Sequence) -> set[tuple[int, int]]:
    """The arrows of a circle of ranks that wait for one another; none if there is no circle."""
    after = {w.rank: w.on[0] for w in waits if len(w.on) == 1}
    for start in after:
        path = [start]
        while (following := after.get(path[-1])) is not None and following not in path:
            path.append(following)
        if following is not None:
            path = [*path[path.index(following) :], following]
            return set(pairwise(path))
    return set()


@themed
def wait_graph(diagnosis, title: str = "Who waits for whom"):
    """`diagnosis`: a Deadlock (or DeadRank, Unserved) that was raised, or its `waits`.

    Blue ranks wait, grey ones do not. An arrow leads to whom a rank waits for; a circle is red.
    """
    waits = getattr(diagnosis, "waits", diagnosis)
    waits = row_of(waits, "diagnosis", ("rank", "on"), "a Deadlock that was raised, or its waits")
    if not waits:
        raise ValueError("nobody waits: there is nothing to draw")
    ranks = sorted({w.rank for w in waits} | {other for w in waits for other in w.on})
    place = {r: (sin(2 * pi * i / len(ranks)), cos(2 * pi * i / len(ranks))) for i, r in enumerate(ranks)}
    red, blocked = circle(waits), {w.rank for w in waits}
    figure, (axes, text) = sheet(11, 5, columns=2, width_ratios=(5, 6))
    for w in waits:
        for other in w.on:
            arrow(axes, place[w.rank], place[other], VERMILION if (w.rank, other) in red else GREY)
    for r, (x, y) in place.items():
        waiting = r in blocked
        ring = {"boxstyle": "circle,pad=0.4", "facecolor": BLUE if waiting else PALE, "edgecolor": BLACK}
        axes.text(x, y, str(r), ha="center", va="center", bbox=ring, color="white" if waiting else BLACK, zorder=3)
    axes.set(xlim=(-1.35, 1.35), ylim=(-1.35, 1.35), aspect="equal", title=title)
    axes.axis("off")
    tell(text, waits)
    return figure


def arrow(axes, start, end, colour: str) -> None:
    shape = {"arrowstyle": "-|>,head_width=0.4,head_length=0.8", "color": colour, "linewidth": 2.5}
    curve = {"shrinkA": 26, "shrinkB": 18, "connectionstyle": "arc3,rad=-0.15"}
    axes.annotate("", end, start, arrowprops=shape | curve, zorder=2)


def tell(axes, waits: Sequence, most: int = 8) -> None:
    """What each rank does, in words, and where in its program."""
    from matplotlib import rcParams

    axes.axis("off")
    lines = [f"rank {w.rank} {w.what}\n      {CELL_FILE.sub('cell', w.where)}" for w in waits[:most]]
    lines += [f"... and {len(waits) - most} more"] if len(waits) > most else []
    small = 0.8 * rcParams["font.size"]
    axes.text(0, 0.95, "\n".join(lines), va="top", wrap=True, fontsize=small, transform=axes.transAxes)
