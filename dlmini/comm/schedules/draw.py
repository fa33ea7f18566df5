"""`draw`: the reader of a plan that makes a picture: ranks side by side, time downwards, an arrow per message.

The picture is SVG text (a notebook shows it by itself); `arrows` and `holdings` are the data behind it, for other
pictures and animations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dlmini.comm.schedules.step import NOBODY, Plan

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#000000")  # Okabe and Ito
WIDE, HIGH, EDGE = 90, 56, 40
TIP = (
    '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
    '<path d="M0,0L7,3L0,6z"/></marker></defs>'
)


class Arrow(NamedTuple):
    """In this step `source` sends chunks [lo, hi) to `dest`, where they are added, or put in place."""

    step: int
    source: int
    dest: int
    lo: int
    hi: int
    add: bool


@dataclass(frozen=True)
class Drawing:
    plan: Plan
    arrows: list[Arrow]

    @property
    def steps(self) -> int:
        return max((a.step for a in self.arrows), default=-1) + 1

    def holdings(self) -> np.ndarray:
        """[step, rank, chunk]: of how many ranks' vectors the chunk is the sum, at first and after each step."""
        n = self.plan.size
        found = np.ones((self.steps + 1, n, self.plan.chunks), int)
        for step in range(self.steps):
            found[step + 1] = found[step]
            for a in (a for a in self.arrows if a.step == step):
                here = slice(a.lo, a.hi)
                found[step + 1, a.dest, here] = found[step, a.source, here] + a.add * found[step, a.dest, here]
        return found

    def svg(self, animate: bool = False) -> str:
        """The picture. animate=True: dots travel along the arrows, a second per step."""
        width, height = EDGE * 2 + WIDE * (self.plan.size - 1), EDGE * 2 + HIGH * max(self.steps, 1)
        heads = [f'<text x="{EDGE + WIDE * r}" y="{EDGE - 14}">rank {r}</text>' for r in range(self.plan.size)]
        lines = [
            f'<line x1="{EDGE + WIDE * r}" y1="{EDGE}" x2="{EDGE + WIDE * r}" y2="{height - EDGE}" stroke="#ccc"/>'
            for r in range(self.plan.size)
        ]
        body = "\n".join([*lines, *heads, *(_arrow(a, animate, self.steps) for a in self.arrows)])
        return (
            f'<svg role="img" aria-label="{self.plan.name} among {self.plan.size} ranks in {self.steps} steps" '
            f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'font-family="sans-serif" font-size="12" text-anchor="middle">\n<title>{self.plan.name}</title>'
            f"{TIP}\n{body}\n</svg>"
        )

    _repr_svg_ = svg

    def __str__(self) -> str:
        """The same as text: a line per step."""
        lines = [f"{self.plan.name}, {self.plan.size} ranks, {self.plan.chunks} chunks"]
        for step in range(self.steps):
            said = [f"{a.source}->{a.dest} {_chunks(a)}{'+' if a.add else ''}" for a in self.arrows if a.step == step]
            lines.append(f"  {step}: " + "  ".join(said))
        return "\n".join(lines)


def draw(how, size: int | None = None) -> Drawing:
    """draw(ring, 4), or draw(plan): who sends which chunks to whom in which step."""
    plan = how if isinstance(how, Plan) else how.allreduce(size)
    arrows = []
    for number, s in enumerate(plan.steps(np.arange(plan.size))):
        for i in np.flatnonzero(s.to != NOBODY):
            arrows.append(Arrow(number, int(i), int(s.to[i]), int(s.lo[i]), int(s.hi[i]), s.add))
    return Drawing(plan, arrows)


def _chunks(a: Arrow) -> str:
    return f"c{a.lo}" if a.hi - a.lo == 1 else f"c{a.lo}-{a.hi - 1}"


def _arrow(a: Arrow, animate: bool, steps: int) -> str:
    x1, y1, x2, y2 = EDGE + WIDE * a.source, EDGE + HIGH * a.step, EDGE + WIDE * a.dest, EDGE + HIGH * (a.step + 1) - 6
    colour, dash = COLOURS[a.lo % len(COLOURS)], "" if a.add else ' stroke-dasharray="5 4"'
    style = f'stroke="{colour}" stroke-width="2"{dash} marker-end="url(#tip)"'
    line = f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" {style}/>'
    name = f'<text x="{(3 * x1 + x2) / 4:.0f}" y="{(3 * y1 + y2) / 4 - 3:.0f}" fill="{colour}">{_chunks(a)}</text>'
    if not animate:
        return line + name
    begin, end = a.step / steps, (a.step + 1) / steps
    dot = (
        f'<circle r="6" fill="{colour}"><animateMotion dur="{steps}s" repeatCount="indefinite" calcMode="linear" '
        f'keyPoints="0;0;1;1" keyTimes="0;{begin:.4f};{end:.4f};1" path="M{x1},{y1}L{x2},{y2}"/></circle>'
    )
    return line + name + dot
