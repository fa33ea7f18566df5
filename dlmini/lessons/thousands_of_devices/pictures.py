"""The pictures of lesson 16."""

from __future__ import annotations

from itertools import pairwise

from dlmini.plan.report import SAID
from dlmini.plan.three_ways import ThreeWays
from dlmini.show.palette import BLUE, CURVES, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, YELLOW, edge, themed
from dlmini.show.paper import Sheet, sheet
from dlmini.show.plan_figures import message_histogram

HELD = {"weights": BLUE, "gradients": ORANGE, "optimiser": GREEN, "activations": SKY, "working": GREY}
TIME = {
    "products": BLUE,
    "memory": SKY,
    "recomputed": PURPLE,
    "tensor": ORANGE,
    "pipe": YELLOW,
    "idle": GREY,
    "data": VERMILION,
    "optimiser": GREEN,
}


def sizes(rows: list[tuple[str, float, int]]) -> Sheet:
    """How many collectives of which size a device takes part in."""
    return message_histogram(rows, collectives=True)


@themed
def layout_bars(found, best=None) -> Sheet:
    """Memory of the fullest device above, a step's seconds below; what does not fit is red."""
    figure, (held, time) = sheet(11, 4.6, rows=2)
    room, full = found.device.room / 1e9, not found.fits
    stack(held, {name: getattr(found.memory, name) / 1e9 for name in HELD}, HELD)
    held.axvline(room, color=VERMILION if full else GREY, linestyle="--")
    if full:
        held.axvspan(room, found.memory.total / 1e9, facecolor="none", edgecolor="red", hatch="//", linewidth=2)
    verdict = "OUT OF MEMORY" if full else "it fits"
    held.set_title(f"{found.memory.total / 1e9:.1f} of {room:.0f} GB: {verdict}", color="red" if full else "black")
    held.set(xlim=(0, 1.25 * max(room, min(found.memory.total / 1e9, 6 * room))), xlabel="GB on the fullest device")
    colours = {SAID[name]: colour for name, colour in TIME.items()}
    stack(time, {SAID[name]: found.parts[name] for name in TIME}, colours, 0.3 if full else 1.0)
    title = f"a step: {found.seconds:.1f} s, MFU {found.utilisation():.0%}" + (", if it fitted" if full else "")
    if best is not None:
        time.axvline(best.seconds, color=GREEN, linestyle="--")
        title += f"   (best so far: {best.seconds:.1f} s)"
    time.set(title=title, xlabel="seconds", xlim=(0, 1.3 * max(found.seconds, best.seconds if best else 0)))
    return figure


def stack(axes, parts: dict[str, float], colours: dict[str, str], alpha: float = 1.0) -> None:
    """One bar of many pieces; a legend beside it."""
    left = 0.0
    for name, size in parts.items():
        if size > 0:
            axes.barh(
                [0], [size], left=[left], color=colours[name], label=name, alpha=alpha, **edge(colours[name], "white")
            )
            left += size
    axes.set_yticks([])
    axes.grid(axis="y", visible=False)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")


@themed
def refused(why: str) -> Sheet:
    """A layout that is none."""
    figure, axes = sheet(11, 1.4)
    axes.axis("off")
    axes.text(0.0, 0.5, why, color=VERMILION, fontsize="x-large", va="center", wrap=True)
    return figure


@themed
def three_ways_picture(ways: ThreeWays, name: str = "") -> Sheet:
    """Small clusters, the line through them, and what formula and simulation say of the large one."""
    figure, axes = sheet(9, 4.2)
    small, n = ways.measured, ways.ranks
    axes.plot(list(small), [1e3 * s for s in small.values()], "o", color=BLUE, label="a small cluster")
    ends = [min(small), n]
    slope = (ways.extrapolated - sum(small.values()) / len(small)) / (n - sum(small) / len(small))
    axes.plot(ends, [1e3 * (ways.extrapolated + slope * (e - n)) for e in ends], "--", color=BLUE, label="extrapolated")
    for seconds, colour, mark, label in (
        (ways.formula, ORANGE, "s", "formula"),
        (ways.simulated, VERMILION, "D", "simulation of every rank"),
    ):
        axes.plot([n], [1e3 * seconds], mark, color=colour, label=f"{label}: {1e3 * seconds:.0f} ms")
    axes.set(xlabel="devices", ylabel="ms of an iteration", ylim=(0, None), title=name or f"{n:,} devices, three ways")
    axes.legend()
    return figure


@themed
def stage_bars(times: list[float], cuts: dict[str, list[int]]) -> Sheet:
    """Seconds of every stage, for each way to cut; the highest bar holds up all others."""
    figure, axes = sheet(10, 3.6)
    for i, (name, counts) in enumerate(cuts.items()):
        edges = [sum(counts[:j]) for j in range(len(counts) + 1)]
        tall = [1e3 * sum(times[a:b]) for a, b in pairwise(edges)]
        places = [j + 0.8 * i / len(cuts) for j in range(len(tall))]
        axes.bar(places, tall, 0.75 / len(cuts), color=CURVES[i], label=f"{name}: slowest {max(tall):.0f} ms")
    axes.set(xlabel="stage", ylabel="ms, there and back", title="a micro-batch in every stage")
    axes.set_xticks([j + 0.4 * (1 - 1 / len(cuts)) for j in range(len(counts))], range(len(counts)))
    axes.margins(y=0.3)
    axes.grid(axis="x", visible=False)
    axes.legend(loc="upper left")
    return figure
