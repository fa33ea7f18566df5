"""The pictures of lesson 00: what a message costs, shards, and a bench to send messages from by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ipywidgets
import numpy as np

from dlmini.comm.network import PRESETS, Switch
from dlmini.comm.processes import Processes
from dlmini.lessons.data_parallelism.classroom import MIB, Published
from dlmini.lessons.meet_the_lab.messages import Line, Point, fastest, fit, message_times
from dlmini.lessons.meet_the_lab.shards import RULES
from dlmini.lessons.picture_desk import StillBox, image
from dlmini.show.dashboard_widgets import in_one_queue
from dlmini.show.palette import BLACK, BLUE, CURVES, GREY, ORANGE, VERMILION, ink_on, themed
from dlmini.show.paper import sheet
from dlmini.show.units import BYTES, said
from dlmini.sim import Simulated

MARKS = {"o": BLUE, "x": VERMILION, "s": ORANGE}


@themed
def cost_lines(
    sets: Mapping[str, Sequence[Point]],
    lines: Mapping[str, Line],
    title: str = "The cost of one message",
    between: tuple[float, float] | None = None,
):
    """Measured points and fitted lines, logarithmic both ways; the grey lines are alpha and beta n of the first.

    between: the seconds that the picture shows, whatever is in it.
    """
    figure, ax = sheet(9, 5)
    for (name, points), (mark, colour) in zip(sets.items(), MARKS.items(), strict=False):
        nbytes, seconds = np.array(points).T if len(points) else ([], [])
        ax.loglog(nbytes, seconds, mark, color=colour, markersize=7, label=name, alpha=0.8)
    n = np.geomspace(1, 2e7, 200)
    for (name, line), dash in zip(lines.items(), ("-", "--", ":"), strict=False):
        seconds = line.seconds(n)
        ax.loglog(n, np.where(seconds > 0, seconds, np.nan), dash, color=BLACK, linewidth=1.5, label=worded(name, line))
    if between:
        ax.set_ylim(between)
    if lines:
        corner(ax, next(iter(lines.values())), n)
    ax.set(xlabel="bytes of the message", ylabel="seconds", title=title, xlim=(0.7, 2.5e7))
    ax.legend(loc="upper left")
    return figure


def worded(name: str, line: Line) -> str:
    speed = f"{said(1 / line.beta, BYTES)}/s" if line.beta > 0 else "no bandwidth at all"
    return f"{name}: {said(line.alpha)}, {speed}"


def corner(ax, line: Line, n: np.ndarray) -> None:
    """The two asymptotes, and where they meet: at alpha / beta bytes."""
    if line.alpha <= 0 or line.beta <= 0:
        return
    ax.axhline(line.alpha, color=GREY, linewidth=1)
    ax.loglog(n[n > line.half / 30], line.beta * n[n > line.half / 30], color=GREY, linewidth=1)
    ax.axvline(line.half, color=GREY, linewidth=1, linestyle=":")
    ax.annotate(f"α / β = {said(line.half, BYTES)}", (line.half, ax.get_ylim()[0]), (6, 8),
                textcoords="offset points", color=GREY)  # fmt: skip


@themed
def shards(n: int, size: int):
    """Who owns which row, by three rules."""
    figure, axes = sheet(10, 1.5 + 1.1 * len(RULES), rows=len(RULES), sharex=True)
    for ax, (name, rule) in zip(axes, RULES.items(), strict=True):
        ax.bar(np.arange(n), 1, width=0.9, color="white", edgecolor=GREY, hatch="///")
        for rank in range(size):
            lo, hi = rule(n, size, rank)
            colour = CURVES[rank % len(CURVES)]
            ax.bar(np.arange(lo, hi), 1, width=0.9, color=colour)
            for row in range(lo, hi):
                ax.text(row, 0.5, str(rank), ha="center", va="center", color=ink_on(colour))
        counts = [hi - lo for lo, hi in (rule(n, size, rank) for rank in range(size))]
        ax.set(title=f"{name}: {', '.join(map(str, counts))} rows", yticks=[], xlim=(-0.6, n - 0.4), ylim=(0, 1))
        ax.grid(visible=False)
    axes[-1].set_xlabel(f"row, of {n}; hatched: nobody's")
    return figure


@themed
def published(rows: Sequence[Published], line: Line):
    """Seconds of synchronisation by the size of a message: the source's table, and the line through it."""
    figure, ax = sheet(8, 4.2)
    size = np.linspace(0, 9, 2)
    ax.plot(size, line.seconds(size * MIB), color=BLACK, linewidth=1.5,
            label=f"{line.alpha:.1f} s + {line.beta * MIB:.2f} s per MiB")  # fmt: skip
    for row, colour in zip(rows, CURVES, strict=False):
        off = line.seconds(row.mib * MIB) / row.synchronisation - 1
        ax.plot(row.mib, row.synchronisation, "o", color=colour, markersize=9, label=f"{row.name}: line {off:+.0%}")
    ax.set(xlabel="size of a message, MiB", ylabel="synchronisation, s per epoch", xlim=(-0.2, 9), ylim=(0, 80))
    ax.set_title("What six PCs measured (source S1, table 2)")
    ax.legend()
    return figure


# ---- by hand ----


class Bench:
    """A slider for the payload, buttons that send it, and the picture of all that was sent so far."""

    def __init__(self, rounds: int = 10):
        self.rounds, self.sent = rounds, {"virtual": [], "real": []}
        self.payload = ipywidgets.FloatLogSlider(
            value=1000, min=0, max=7, step=0.5, description="bytes", readout_format=",.0f", continuous_update=False
        )
        cables = [name for name, net in PRESETS.items() if isinstance(net, Switch)]
        self.network = ipywidgets.Dropdown(options=cables, value="gigabit", description="network")
        names = {"Send (virtual)": self.virtual, "Send (real)": self.real, "Clear": self.clear}
        self.buttons = [ipywidgets.Button(description=name) for name in names]
        for button, press in zip(self.buttons, names.values(), strict=True):
            button.on_click(lambda _, press=press: press())
        self.network.observe(lambda _: self.clear(), "value")
        in_one_queue([self.payload, self.network, *self.buttons])
        self.picture, self.words = image(), ipywidgets.HTML()
        self.draw()

    @property
    def nbytes(self) -> int:
        return round(self.payload.value)

    def virtual(self) -> None:
        """One message there and back in virtual time."""
        self._send("virtual", message_times(Simulated(2, PRESETS[self.network.value]), [self.nbytes]))

    def real(self) -> None:
        """`rounds` messages there and back between two processes, five times."""
        self._send("real", message_times(Processes(2, timeout=30), [self.nbytes], self.rounds, repeats=5))

    def _send(self, kind: str, points: list[Point]) -> None:
        self.sent[kind] += points
        best = min(point.seconds for point in points)
        self.words.value = f"{kind}: {self.nbytes:,} bytes took {said(best)}, {said(self.nbytes / best, BYTES)}/s"
        self.draw()

    def clear(self) -> None:
        self.sent, self.words.value = {"virtual": [], "real": []}, ""
        self.draw()

    def draw(self) -> None:
        enough = {kind: points for kind, points in self.sent.items() if len({p.nbytes for p in points}) > 1}
        lines = {f"line, {kind}": fit(fastest(points), relative=True) for kind, points in enough.items()}
        title = "The cost of one message" if lines else "Two sizes make a line: send some"
        self.figure = cost_lines(self.sent, lines, title, between=(5e-7, 10.0))
        self.picture.show(self.figure)

    def box(self) -> ipywidgets.VBox:
        rows = [ipywidgets.HBox([self.payload, self.network]), ipywidgets.HBox(self.buttons)]
        return StillBox([*rows, self.words, self.picture], lambda: self.figure)


def message_bench() -> ipywidgets.VBox:
    """Send messages by hand, in virtual time and between two processes, and see the line appear."""
    return Bench().box()
