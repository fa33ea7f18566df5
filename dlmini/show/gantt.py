"""`timeline`: a Gantt chart. One row per rank, time to the right, a bar for every stretch of its time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from dlmini.checks import row_of
from dlmini.events import Event, Fault, Span
from dlmini.show.palette import BLACK, PHASE, themed
from dlmini.show.paper import sheet
from dlmini.show.units import unit

THICK = 0.8


@themed
def timeline(events: Iterable[Event], start: float = 0.0, end: float = float("inf"), title: str = "Where time goes"):
    """Spans between `start` and `end`, by rank and phase; faults are crosses. Spans come from a transport with
    spans=True.
    """
    events = row_of(events, "events", (), "the events of a run, such as results.events")
    spans = [e for e in events if isinstance(e, Span) and e.start < end and e.end > start]
    if not spans:
        raise ValueError(
            f"there is no Span among {len(events)} events between {start:g} and {end:g} s; run on "
            "Simulated(n, spans=True) or Processes(n, spans=True)"
        )
    ranks = sorted({s.rank for s in spans})
    size, name = unit(max(s.end for s in spans) - start)
    figure, axes = sheet(10, 2.0 + 0.42 * min(len(ranks), 24))
    for (rank, phase), bars in grouped(spans, size).items():
        axes.broken_barh(bars, (rank - THICK / 2, THICK), facecolor=PHASE[phase], edgecolor=BLACK, linewidth=0.3)
    for fault in (e for e in events if isinstance(e, Fault) and start <= e.at <= end):
        axes.plot(fault.at / size, fault.rank, "X", color=BLACK, markersize=12)
    axes.set(xlabel=f"time, {name}", ylabel="rank", title=title)
    axes.set_ylim(ranks[-1] + 0.6, ranks[0] - 0.6)
    axes.set_yticks(ranks if len(ranks) <= 24 else ranks[:: len(ranks) // 12])
    axes.grid(axis="y", visible=False)
    key(figure)
    return figure


def grouped(spans: list[Span], size: float) -> dict[tuple[int, str], list[tuple[float, float]]]:
    """(start, length) of all bars of one rank and phase, in units of `size` seconds."""
    found = defaultdict(list)
    for s in spans:
        found[s.rank, s.phase].append((s.start / size, (s.end - s.start) / size))
    return found


def key(figure) -> None:
    """The legend of the three phases, below the picture."""
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=colour, edgecolor=BLACK, linewidth=0.3, label=name) for name, colour in PHASE.items()]
    figure.legend(handles=patches, loc="outside lower center", ncols=3)
