"""The pictures of lesson 14."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dlmini.lessons.classroom.room import seconds_of
from dlmini.show.palette import BLACK, BLUE, GREY, VERMILION, themed
from dlmini.show.paper import sheet
from dlmini.studies.classroom.published import MIB, SYNCS, TABLE
from dlmini.studies.classroom.reckoned import Room


@themed
def budget_lines(room: Room):
    """Seconds of a synchronisation against the packet, by star and ring; dots: what was published."""
    figure, ax = sheet(9, 4.6)
    packets = np.logspace(4, 7.2, 100)
    for how, colour in (("star", BLUE), ("ring", VERMILION)):
        ax.plot(packets / 1e6, [seconds_of(room, p, how) for p in packets], color=colour, label=f"reckoned: {how}")
    ax.axhline(room.fixed, color=GREY, linestyle=":", label="paid whatever is sent")
    for column in TABLE:
        x, y = column.mib * MIB / 1e6, column.synchronisation / SYNCS
        ax.plot(x, y, "o", color=BLACK, label="published: star" if column is TABLE[0] else None)
        ax.annotate(column.name, (x, y), (-6, 8), textcoords="offset points", ha="right", fontsize="small")
    ax.set(xscale="log", xlabel="packet, MB", ylabel="seconds of a synchronisation", ylim=(0, 2.4))
    ax.legend(loc="upper left")
    return figure


@themed
def heard_bars(rows: Mapping[str, Sequence[tuple[str, float]]]):
    """By layer: the share of numbers that is not rounded to zero, for several ways."""
    figure, ax = sheet(12, 4.4)
    names = [name for name, _ in next(iter(rows.values()))]
    thick = 0.8 / len(rows)
    for k, ((way, found), colour) in enumerate(zip(rows.items(), (VERMILION, BLUE, GREY), strict=False)):
        places = np.arange(len(names)) + thick * (k - (len(rows) - 1) / 2)
        ax.bar(places, [100 * share for _, share in found], width=thick, color=colour, label=way)
    ax.set_xticks(range(len(names)), names, rotation=60, ha="right", fontsize="x-small")
    ax.set(ylabel="numbers that are heard, %", xlabel="layer (its weights' shape)")
    ax.grid(axis="x", visible=False)
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper right", ncols=len(rows))
    return figure


@themed
def costs(rows: Mapping[str, float]):
    """Points of accuracy that each mistake costs, the dearest on top."""
    order = sorted(rows, key=rows.get, reverse=True)
    figure, ax = sheet(9, 1.2 + 0.45 * len(order))
    ax.barh(range(len(order)), [rows[name] for name in order], color=VERMILION)
    for place, name in enumerate(order):
        ax.annotate(
            f"{round(rows[name], 1) + 0.0:+.1f}",
            (max(rows[name], 0), place),
            (4, 0),
            textcoords="offset points",
            va="center",
        )
    ax.set_yticks(range(len(order)), order)
    ax.set(ylim=(len(order) - 0.4, -0.6), xlabel="points of test accuracy lost")
    ax.margins(x=0.15)
    ax.grid(axis="y", visible=False)
    return figure
