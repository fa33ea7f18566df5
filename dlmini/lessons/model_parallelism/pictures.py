"""The pictures of lesson 12."""

from __future__ import annotations

from collections.abc import Mapping

from dlmini.parallel.costs import Wire, computing, grid_costs, shapes_of, total
from dlmini.show.palette import BLUE, GREEN, GREY, ORANGE, VERMILION, themed
from dlmini.show.paper import sheet


@themed
def grid_bars(model, batch: int, ranks: int, wire: Wire, flops: float):
    """Seconds of a step's messages for each P_r x P_c, by what is sent; the dashed line is the work."""
    shapes = shapes_of(ranks)
    figure, ax = sheet(9, 4.2)
    bottom = [0.0] * len(shapes)
    for name, colour in (("forward", BLUE), ("back", ORANGE), ("weights", VERMILION)):
        tall = [1e3 * sum(getattr(cost, name) for cost in grid_costs(model, batch, *s, wire)) for s in shapes]
        said = {"forward": "activations, forward", "back": "their gradients, back", "weights": "gradients of weights"}
        ax.bar(range(len(shapes)), tall, bottom=bottom, color=colour, label=said[name])
        bottom = [a + b for a, b in zip(bottom, tall, strict=True)]
    ax.axhline(1e3 * computing(model, batch, ranks, flops), color=GREY, linestyle="--", label="the work")
    ax.set_xticks(range(len(shapes)), [f"{r} x {c}" for r, c in shapes])
    best = min(shapes, key=lambda s: total(grid_costs(model, batch, *s, wire)))
    ax.set(
        xlabel="P_r x P_c", ylabel="ms of a step", title=f"{batch} rows on {ranks} ranks: best {best[0]} x {best[1]}"
    )
    ax.grid(axis="x", visible=False)
    ax.legend()
    return figure


@themed
def memory_bars(rows: Mapping[str, object]):
    """What a rank holds, by what it is for: {name: RankMemory}."""
    figure, ax = sheet(9, 1.4 + 0.5 * len(rows))
    left = [0.0] * len(rows)
    kinds = ("weights", "gradients", "optimiser", "exchange", "activations")
    for kind, colour in zip(kinds, (BLUE, VERMILION, GREEN, ORANGE, GREY), strict=True):
        wide = [getattr(row, kind) / 1e6 for row in rows.values()]
        ax.barh(range(len(rows)), wide, left=left, color=colour, label=kind)
        left = [a + b for a, b in zip(left, wide, strict=True)]
    ax.set_yticks(range(len(rows)), list(rows))
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlabel="MB on the fullest rank")
    ax.grid(axis="y", visible=False)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure
