"""`draw`: the reader of a timetable that makes a picture: a row per rank, time to the right, a box per job.

The picture is SVG text (a notebook shows it by itself), or plain text. It is made of Slots: those that `price` tells of
a timetable, or those of a run on a transport with spans=True. Idle time is hatched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dlmini.checks import refuse, row_of
from dlmini.events import Event, Slot
from dlmini.parallel.timetable import BACKWARD, FORWARD, WEIGHTS, Priced, Timetable, price

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#f0e442")  # Okabe and Ito
LETTER = {FORWARD: "F", BACKWARD: "B", WEIGHTS: "W"}
STRENGTH = {FORWARD: 0.95, BACKWARD: 0.6, WEIGHTS: 0.3}
WIDE, HIGH, EDGE = 900, 30, 60
HATCH = (
    '<defs><pattern id="idle" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" fill="#f4f4f4"/><line x1="0" y1="0" x2="0" y2="6" stroke="#bbb" stroke-width="2"/>'
    "</pattern></defs>"
)
PAPER = '<rect width="100%" height="100%" fill="#fff"/>'  # letters are black: on a dark page, too


@dataclass(frozen=True)
class BubbleDiagram:
    """Slots by rank."""

    name: str
    slots: list[Slot]

    @property
    def ranks(self) -> int:
        return 1 + max(slot.rank for slot in self.slots)

    @property
    def start(self) -> float:
        return min(slot.start for slot in self.slots)

    @property
    def end(self) -> float:
        return max(slot.end for slot in self.slots)

    @property
    def idle_share(self) -> float:
        """Idle time over all time of all ranks, from the first job's start to the last one's end."""
        whole = (self.end - self.start) * self.ranks
        return 1 - sum(slot.end - slot.start for slot in self.slots) / whole if whole else 0.0

    def svg(self) -> str:
        """The picture."""
        height, scale = HIGH * self.ranks + 30, WIDE / ((self.end - self.start) or 1)
        rows = [
            f'<text x="{EDGE - 8}" y="{HIGH * r + 20}" text-anchor="end">rank {r}</text>'
            f'<rect x="{EDGE}" y="{HIGH * r + 2}" width="{WIDE}" height="{HIGH - 4}" fill="url(#idle)"/>'
            for r in range(self.ranks)
        ]
        boxes = [box(slot, self.start, scale) for slot in self.slots]
        said = f"{self.name}: idle {self.idle_share:.1%}"
        foot = f'<text x="{EDGE}" y="{height - 8}">{said}</text>'
        return (
            f'<svg role="img" aria-label="{said}" xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {EDGE + WIDE + 10} {height}" width="{EDGE + WIDE + 10}" '
            'font-family="sans-serif" font-size="12">'
            f"\n<title>{said}</title>{HATCH}\n{PAPER}\n" + "\n".join([*rows, *boxes, foot]) + "\n</svg>"
        )

    _repr_svg_ = svg

    def __str__(self) -> str:
        """The same in letters: a column is as long as the shortest job, dots are idle."""
        unit = min((slot.end - slot.start for slot in self.slots if slot.end > slot.start), default=1)
        wide = 1 + max(len(label(slot)) for slot in self.slots)
        lines = [["." + " " * (wide - 1)] * round((self.end - self.start) / unit) for _ in range(self.ranks)]
        for slot in self.slots:
            first, last = (round((at - self.start) / unit) for at in (slot.start, slot.end))
            lines[slot.rank][first:last] = [label(slot).ljust(wide), *["-" * (wide - 1) + " "] * (last - first - 1)]
        rows = [f"rank {r}: " + "".join(line).rstrip() for r, line in enumerate(lines)]
        return "\n".join([f"{self.name}: idle {self.idle_share:.1%}", *rows])


def label(slot: Slot) -> str:
    """F3: forward of micro-batch 3; F3' in the rank's second chunk."""
    return f"{LETTER[slot.kind]}{slot.micro}" + "'" * slot.chunk


def box(slot: Slot, start: float, scale: float) -> str:
    x, y, wide = EDGE + (slot.start - start) * scale, HIGH * slot.rank + 2, (slot.end - slot.start) * scale
    colour, strength = COLOURS[slot.micro % len(COLOURS)], STRENGTH[slot.kind] * 0.75**slot.chunk
    inside = "#fff" if strength > 0.7 and colour == COLOURS[0] else "#000"  # 4.5 to 1 or more: black on all but blue
    name = f'<text x="{x + wide / 2:.1f}" y="{y + 17}" text-anchor="middle" fill="{inside}">{label(slot)}</text>'
    return (
        f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{HIGH - 4}" fill="#fff"/>'
        f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{HIGH - 4}" fill="{colour}" '
        f'fill-opacity="{strength:.2f}" stroke="#000" stroke-width="0.5"/>'
        + (name if wide > 7 * len(label(slot)) else "")
    )


def draw(what: Timetable | Priced | Iterable[Event], name: str = "", **costs) -> BubbleDiagram:
    """draw(gpipe.plan(4, 8), backward=2), draw(priced), or draw(events of a run)."""
    if isinstance(what, Timetable):
        what = price(what, **costs)
    if isinstance(what, Priced):
        return BubbleDiagram(name or what.timetable.name, what.slots)
    events = row_of(what, "what", (), "a timetable, its prices, or the events of a run")
    slots = [event for event in events if isinstance(event, Slot)]
    if not slots:
        refuse(ValueError, "what", f"{len(events)} events", "a run of a pipeline on a transport with spans=True")
    return BubbleDiagram(name or "a run", slots)
