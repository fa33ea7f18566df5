"""`bubbles`: the jobs of pipelines, a row per rank, a box per job, idle time hatched; `memory_over_time` below them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from dlmini.checks import refuse, row_of
from dlmini.events import Slot
from dlmini.show.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PALE, PURPLE, SKY, VERMILION, strokes, themed
from dlmini.show.paper import sheet
from dlmini.show.units import BYTES, unit

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, GREY)  # of micro-batches, in turns
STRENGTH = {"forward": 0.95, "backward": 0.6, "weights": 0.3}
THICK, FEW = 0.84, 80  # of a row; jobs of a rank beyond which boxes carry no names
ABOVE = {"fontsize": "small", "loc": "lower right", "bbox_to_anchor": (1, 1), "borderaxespad": 0.2}  # of a legend
WHAT = "pipelines by name: {'gpipe': price(gpipe.plan(4, 8)), 'measured': outcome.events}"


def slots_of(what) -> list[Slot]:
    """The jobs of a priced timetable, or those among the events of a run on a transport with spans=True."""
    events = row_of(getattr(what, "slots", what), "runs", (), WHAT)
    found = [event for event in events if isinstance(event, Slot)]
    return found or refuse(ValueError, "runs", what, f"{WHAT}; a run tells its jobs on a transport with spans=True")


def pipelines_of(runs) -> dict[str, list[Slot]]:
    if not isinstance(runs, Mapping) or not runs:
        refuse(TypeError, "runs", runs, WHAT)
    return {str(name): slots_of(what) for name, what in runs.items()}


def idle_share(slots: Sequence[Slot]) -> float:
    """Idle time over all time of all ranks, from the first job's start to the last one's end."""
    whole = (max(s.end for s in slots) - min(s.start for s in slots)) * len({s.rank for s in slots})
    return 1 - sum(s.end - s.start for s in slots) / whole if whole else 0.0


@themed
def bubbles(runs: Mapping[str, object]):
    """One pipeline above the other, each from its first job to its last: forward dark, backward paler.

    Colours are those of micro-batches. What a schedule says and what a run has measured may stand side by side: each
    has its own seconds, and a title with its idle share.
    """
    found = pipelines_of(runs)
    ranks = [1 + max(s.rank for s in slots) for slots in found.values()]
    figure, axes = sheet(11, 0.6 + sum(1.0 + 0.36 * n for n in ranks), rows=len(found), squeeze=False)
    for ax, (name, slots) in zip(axes[:, 0], found.items(), strict=True):
        draw_jobs(ax, slots)
        ax.set_title(f"{name}: idle {idle_share(slots):.1%}")
    return figure


def draw_jobs(ax, slots: list[Slot]) -> None:
    start, end, last = min(s.start for s in slots), max(s.end for s in slots), max(s.rank for s in slots)
    size, name = unit(end - start)
    for rank in range(last + 1):
        ax.broken_barh(
            [(0, (end - start) / size)], (rank - THICK / 2, THICK), facecolor="white", edgecolor=PALE, hatch="////"
        )
    named = len(slots) / (last + 1) <= FEW
    for slot in slots:
        x, wide = (slot.start - start) / size, (slot.end - slot.start) / size
        colour, strength = COLOURS[slot.micro % len(COLOURS)], STRENGTH[slot.kind] * 0.75**slot.chunk
        place = (slot.rank - THICK / 2, THICK)
        ax.broken_barh([(x, wide)], place, facecolor="white")
        ax.broken_barh([(x, wide)], place, facecolor=colour, alpha=strength, edgecolor=BLACK, linewidth=0.5)
        if named and wide * size > 0.6 * (end - start) / FEW:
            text = f"{slot.micro}" + "'" * slot.chunk
            ax.text(x + wide / 2, slot.rank, text, ha="center", va="center", fontsize="x-small", clip_on=True)
    ax.set(xlim=(0, (end - start) / size), ylim=(last + 0.5, -0.5), ylabel="rank", xlabel=f"time, {name}")
    ax.set_yticks(range(last + 1))
    ax.grid(visible=False)


def in_flight(slots: Sequence[Slot]) -> dict[int, tuple[list[float], list[int]]]:
    """By rank: moments, and how many micro-batches' activations it keeps from each of them on."""
    frees, found = "weights" if any(s.kind == "weights" for s in slots) else "backward", {}
    for rank, mine in groupby(sorted(slots, key=lambda s: s.rank), key=lambda s: s.rank):
        news = [(s.start, 1) if s.kind == "forward" else (s.end, -1) for s in mine if s.kind in ("forward", frees)]
        times, counts = [], [0]
        for at, change in sorted(news):
            times.append(at)
            counts.append(counts[-1] + change)
        found[rank] = times, counts[1:]
    return found


@themed
def memory_over_time(runs: Mapping[str, object], kept=None, fixed=0):
    """What ranks keep while pipelines run: activations of the micro-batches in flight, and what is always there.

    kept: bytes of one micro-batch's activations on a rank, or one number for each rank; without it micro-batches are
    counted. fixed: bytes of weights, gradients, optimiser, in the same way (the meter tells both).
    """
    found = pipelines_of(runs)
    figure, axes = sheet(11, 0.6 + 2.6 * len(found), rows=len(found), squeeze=False, sharey=True)
    for ax, (name, slots) in zip(axes[:, 0], found.items(), strict=True):
        start, rows = min(s.start for s in slots), in_flight(slots)
        size, word = unit(max(s.end for s in slots) - start)
        kept_of, fixed_of = (each(given, len(rows), which) for given, which in ((kept or 1, "kept"), (fixed, "fixed")))
        most = max(fixed_of[r] + kept_of[r] * max(counts) for r, (_, counts) in rows.items())
        scale, many = (1, "micro-batches kept") if kept is None else unit(most, BYTES)
        for (rank, (times, counts)), stroke in zip(rows.items(), strokes(len(rows)), strict=True):
            levels = [(fixed_of[rank] + kept_of[rank] * count) / scale for count in counts]
            ax.step([(at - start) / size for at in times], levels, where="post", label=f"rank {rank}", **stroke)
        ax.set(title=name, xlabel=f"time, {word}", ylabel=many, ylim=(0, None))
        ax.legend(ncols=8, **ABOVE)
    return figure


def each(given, ranks: int, name: str) -> list:
    row = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given] * ranks
    return row if len(row) == ranks else refuse(ValueError, name, given, f"bytes: one number, or one for {ranks} ranks")
