"""A forecast in words, tables and figures: where a step's time goes, what is sent, when, and what is held."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np

from dlmini import files
from dlmini.parallel.timetable import Priced, price
from dlmini.plan.cost import Forecast, message_seconds, stage_times
from dlmini.plan.memory import end_activations, layer_activations, rank_memory

SAID = {
    "products": "matrix products",
    "memory": "passes over memory",
    "recomputed": "computed again",
    "tensor": "sums inside layers",
    "pipe": "messages between stages",
    "idle": "waiting for other stages",
    "data": "gradients and weights between copies",
    "optimiser": "the optimiser's step",
}
BINS = 240


def table(head: str, rows) -> str:
    """A table in Markdown."""
    lines = [f"| {head} |", "|" + "---|" * (head.count("|") + 1)]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows), ""])


def size(nbytes: float) -> str:
    """Bytes for people: 604.6 MB."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if nbytes >= scale:
            return f"{nbytes / scale:,.1f} {unit}"
    return f"{nbytes:,.0f} B"


def times(found: Forecast) -> str:
    rows = [(SAID[k], f"{v:.3f}", f"{v / found.seconds:.1%}") for k, v in found.parts.items() if v > 0]
    return table("the busiest device's time | s | share", [*rows, ("**a step**", f"**{found.seconds:.3f}**", "")])


def held(found: Forecast) -> str:
    parts = ("weights", "gradients", "optimiser", "activations", "working")
    rows = [(part, size(getattr(found.memory, part))) for part in parts]
    room = f"of {size(found.device.room)}: " + ("it fits" if found.fits else "**OUT OF MEMORY**")
    return table("the fullest device holds | ", [*rows, ("**in all**", f"**{size(found.memory.total)}** {room}")])


def sent(found: Forecast) -> str:
    rows = [
        (t.what, t.verb, t.ranks, t.level(found.device).split()[0], f"{t.messages:,}", size(t.message), size(t.sent))
        for t in found.transfers
    ]
    head = "a device sends | by | ranks | nodes | messages | each | in all"
    return table(head, rows) if rows else "Nothing is sent.\n"


def collective_sizes(transfers) -> dict[tuple[str, float], int]:
    """(what and by which verb, bytes of the vector): how often."""
    found = Counter()
    for one in transfers:
        found[f"{one.what}: {one.verb}", one.nbytes] += one.count
    return dict(found)


def collectives(transfers) -> str:
    """What DeepSpeed's ZeRO 2 sends at once; sizes that differ by an element or two stand in one row."""
    rows = Counter()
    for (what, nbytes), count in collective_sizes(transfers).items():
        rows[what, size(nbytes)] += count
    told = [(*what.split(": "), each, f"{count:,}") for (what, each), count in rows.items()]
    return table("DeepSpeed sends | by | vectors of | how often", told)


def summary(found: Forecast, tokens: float | None = None) -> str:
    """What a person asks first."""
    sheet, layout = found.sheet, found.layout
    lines = [
        f"**{sheet.name}**, {sheet.parameters:,} parameters, on {layout.devices:,} x {found.device.name}: {layout!r}",
        f"batch {found.batch:,} x {sheet.sequence:,} tokens in {layout.micros(found.batch):,} micro-batches a pipeline",
        f"**{found.seconds:.2f} s** a step · {found.batch * sheet.sequence / found.seconds:,.0f} tokens/s · "
        f"MFU {found.utilisation():.1%} · HFU {found.utilisation(layout.recompute):.1%} · "
        f"idle {found.idle_share:.1%} of the pipeline",
    ]
    if tokens is not None:
        lines.append(
            f"{tokens / 1e9:,.0f} billion tokens: {found.days(tokens):,.1f} days, {found.dollars(tokens):,.0f} dollars "
            f"at {found.device.hourly:g} an hour and device"
        )
    return "\n\n".join(lines) + "\n"


def text(found: Forecast, tokens: float | None = None) -> str:
    """All of it, in Markdown."""
    return "\n".join([summary(found, tokens), times(found), held(found), sent(found)])


def ranking(rows: list[Forecast]) -> str:
    """What a search found."""
    told = [
        (
            i + 1,
            f"`{f.layout!r}`",
            f"{f.seconds:.2f}",
            f"{f.utilisation():.1%}",
            f"{f.idle_share:.1%}",
            size(f.memory.total),
        )
        for i, f in enumerate(rows)
    ]
    return table("| layout | s | MFU | idle | memory", told)


# ---- what figures show ----


def slots(found: Forecast) -> Priced:
    """Every job of the pipeline, with its times."""
    layout, costs = found.layout, stage_times(found.sheet, found.layout, found.device)
    forward, backward = ([one.total for one in column] for column in zip(*costs, strict=True))
    message = message_seconds(found.sheet, layout, found.device)
    return price(layout.timetable(found.batch), forward, backward, 0, message)


def message_sizes(found: Forecast) -> list[tuple[str, float, int]]:
    """(what, bytes of a message, how many of them one device sends)."""
    return [(f"{t.what}: {t.verb}", t.message, t.messages) for t in found.transfers]


def link_load(found: Forecast, priced: Priced) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Over a step: seconds, and the share of each level's links that a device in the middle of its pipeline uses.

    Sums inside layers are spread over the jobs that make them, a message lies behind its job, and what goes between
    copies lies at the end: beside the last ways back, as far as these hide it.
    """
    edges = np.linspace(0, found.seconds, BINS + 1)
    mine = [slot for slot in priced.slots if slot.rank == found.layout.pipe // 2]
    load = {"inside nodes": np.zeros(BINS), "between nodes": np.zeros(BINS)}
    end = found.seconds
    for one in reversed(found.transfers):  # weights are gathered last, gradients summed before that
        link, level = found.device.link(one.span), load[one.level(found.device)]
        if one.what in ("tensor", "pipe"):
            for slot in mine:
                ends = (slot.start, slot.end) if one.what == "tensor" else (slot.end, slot.end + 1e-9)
                spread(level, edges, *ends, one.sent / len(mine) / link.bandwidth)
        else:
            start = max(0.0, end - one.seconds(found.device))
            spread(level, edges, start, end, one.sent / link.bandwidth)
            end = start if start > 0 else found.seconds
    return (edges[:-1] + edges[1:]) / 2, {name: row / np.diff(edges) for name, row in load.items()}


def spread(bins: np.ndarray, edges: np.ndarray, start: float, end: float, amount: float) -> None:
    """Add an amount evenly over [start, end]."""
    inside = np.clip(edges, start, end)
    bins += amount * np.diff(inside) / (end - start) if end > start else 0.0


def memory_over_time(found: Forecast, priced: Priced) -> tuple[np.ndarray, np.ndarray, float]:
    """(seconds, bytes) of the first device of a pipeline: its state, and activations that come and go; and its room."""
    sheet, layout = found.sheet, found.layout
    base = rank_memory(sheet, layout, found.batch, 0)
    piece = sum(layout.layers(sheet)[:: layout.pipe]) / layout.chunks * layer_activations(sheet, layout)
    piece += end_activations(sheet, layout, False) / layout.chunks
    moments = [
        (slot.start if slot.kind == "forward" else slot.end, slot.kind) for slot in priced.slots if slot.rank == 0
    ]
    moments.sort()
    steps = np.cumsum([0, *(piece if kind == "forward" else -piece for _, kind in moments)])
    state = base.weights + base.gradients + base.optimiser + base.working
    state += end_activations(sheet, layout, True) if layout.pipe == 1 else 0.0
    return np.array([0, *(at for at, _ in moments)]), state + steps, found.device.room


def figures(found: Forecast) -> dict[str, object]:
    """Name of the file: the figure."""
    from dlmini.show import plan_figures as draw

    priced = slots(found)
    made = {
        "time.png": draw.step_parts({SAID[k]: v for k, v in found.parts.items() if v > 0}),
        "stages.png": draw.stage_diagram(priced.slots, found.layout.pipe, found.layout.chunks),
        "memory.png": draw.memory_curve(*memory_over_time(found, priced)),
    }
    if found.transfers:
        made["messages.png"] = draw.message_histogram(message_sizes(found))
        made["links.png"] = draw.link_curves(*link_load(found, priced))
    return made


def write(found: Forecast, folder, tokens: float | None = None, rows: list[Forecast] = (), regime=None) -> Path:
    """plan.md, transfers.csv and figures, in a new folder. regime: transfers of DeepSpeed's ZeRO 2, for a histogram."""
    said = text(found, tokens) + ("\n" + ranking(rows) if rows else "")
    head = "what,verb,ranks,level,count,bytes,messages,bytes_of_a_message"
    lines = [
        f"{t.what},{t.verb},{t.ranks},{t.level(found.device)},{t.count},{t.nbytes:.0f},{t.messages},{t.message:.0f}"
        for t in found.transfers
    ]
    drawn = figures(found)
    if regime:
        from dlmini.show.plan_figures import message_histogram

        said += "\n" + collectives(regime)
        rows = [(what, nbytes, count) for (what, nbytes), count in collective_sizes(regime).items()]
        drawn["collectives.png"] = message_histogram(rows, collectives=True)
    said += "\n" + "\n".join(f"![{name}]({name})" for name in drawn) + "\n"
    contents = {"plan.md": lambda stream: stream.write(said.encode())}
    contents["transfers.csv"] = lambda stream: stream.write("\n".join([head, *lines, ""]).encode())
    return files.write_folder(
        folder, contents | {name: partial(figure.savefig, format="png") for name, figure in drawn.items()}
    )
