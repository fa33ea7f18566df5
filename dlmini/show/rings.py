"""`ring_animation` and `film_strip`: what every rank holds during a collective, step by step.

A number in a cell says of how many ranks' vectors that chunk is the sum; a cell is full when it is the sum of all.
Works for every schedule: ring, tree, doubling, halving_doubling, naive.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from dlmini.comm.schedules.draw import Drawing, draw
from dlmini.show.palette import BLACK, CURVES, GREEN, VERMILION, themed
from dlmini.show.paper import sheet

FRAMES = 6  # pictures per step
DARK = (  # as other figures (paper.py): white becomes black, hues stay
    '<style>:is([data-jp-theme-light="false"],.vscode-dark,.theme-dark) .animation img'
    "{filter:invert(.93) hue-rotate(180deg)}</style>"
)
SIGNS = {  # matplotlib's buttons show letters of a font that it fetches from the network; lessons fetch nothing
    "fa-minus": "−",
    "fa-fast-backward": "|◀",
    "fa-step-backward": "‹",
    "fa-play fa-flip-horizontal": "◀",
    "fa-pause": "❚❚",
    "fa-play": "▶",
    "fa-step-forward": "›",
    "fa-fast-forward": "▶|",
    "fa-plus": "+",
}


def shades(held: np.ndarray, size: int):
    """White for one's own part only, darker as more is added; green when it is the sum of all."""
    from matplotlib.colors import to_rgb

    share = ((held - 1) / max(1, size - 1))[..., None]
    picture = 1 - 0.6 * share * (1 - np.array(to_rgb(CURVES[5])))
    picture[held == size] = to_rgb(GREEN)
    return picture


def cells(axes, held: np.ndarray, size: int) -> None:
    """Ranks downwards, chunks to the right."""
    axes.imshow(shades(held, size), aspect="auto")
    for (i, j), count in np.ndenumerate(held):
        axes.text(j, i, str(count), ha="center", va="center", color=BLACK)  # on green, too: 6 to 1
    axes.set_xticks(range(held.shape[1]), [f"c{c}" for c in range(held.shape[1])])
    axes.set_yticks(range(held.shape[0]))
    axes.grid(visible=False)


@themed
def film_strip(schedule, size: int | None = None, columns: int = 4):
    """One picture per step: what every rank holds before the first and after each."""
    drawing = draw(schedule, size)
    held, n = drawing.holdings(), drawing.plan.size
    rows = -(-len(held) // columns)
    figure, axes = sheet(2.9 * columns, 0.9 + rows * (0.9 + 0.3 * n), rows, columns, squeeze=False, sharey=True)
    for step, ax in enumerate(axes.flat):
        if step >= len(held):
            ax.axis("off")
            continue
        cells(ax, held[step], n)
        ax.set_title("before" if step == 0 else f"after step {step}")
        for a in (a for a in drawing.arrows if a.step == step - 1):
            ax.add_patch(frame(a))
    for ax in axes[:, 0]:
        ax.set_ylabel("rank")
    figure.suptitle(f"{drawing.plan.name}, {n} ranks: what has just arrived is framed")
    return figure


def frame(a, along: float = 1.0):
    """The chunks of an arrow as a frame; `along` says how far they have come from their source (0) to `dest` (1)."""
    from matplotlib.patches import Rectangle

    row = a.source + along * (a.dest - a.source)
    return Rectangle((a.lo - 0.5, row - 0.5), a.hi - a.lo, 1, fill=False, edgecolor=VERMILION, linewidth=3)


@dataclass(frozen=True)
class Film:
    """Frames that a notebook plays; `html()` is a page of its own, with buttons to play, stop and step."""

    drawing: Drawing
    seconds: float = 1.0  # per step
    _page: list = field(default_factory=list, repr=False, compare=False)

    def html(self) -> str:
        if not self._page:
            self._page.append(played(self.drawing, self.seconds))
        return self._page[0]

    _repr_html_ = html


def ring_animation(schedule, size: int | None = None, seconds: float = 1.0) -> Film:
    """Chunks that move from rank to rank: ring_animation(ring, 4), or of a plan."""
    return Film(draw(schedule, size), seconds)


@themed
def played(drawing: Drawing, seconds: float) -> str:
    """The frames as HTML with buttons, without any outside program."""
    from matplotlib.animation import FuncAnimation

    held, n = drawing.holdings(), drawing.plan.size
    figure, axes = sheet(1.4 + 0.8 * drawing.plan.chunks, 1.4 + 0.5 * n)

    def show(number: int) -> None:
        step, part = divmod(number, FRAMES)
        axes.clear()
        cells(axes, held[step], n)
        axes.set(ylabel="rank", title=f"{drawing.plan.name}: step {min(step + 1, drawing.steps)} of {drawing.steps}")
        for a in (a for a in drawing.arrows if a.step == step):
            axes.add_patch(frame(a, part / FRAMES))

    pause = 1000 * seconds / FRAMES
    film = FuncAnimation(figure, show, frames=drawing.steps * FRAMES + 1, interval=pause)
    return DARK + begun(offline(film.to_jshtml(fps=FRAMES / seconds, default_mode="once")))


def offline(page: str) -> str:
    """The page without what it would fetch; its buttons show signs that every machine has."""
    page = re.sub(r'<link rel="stylesheet"\s+href="https?://[^"]*">', "", page)
    for name, sign in SIGNS.items():
        page = page.replace(f'<i class="fa {name}"></i>', sign)
    return page


def begun(page: str) -> str:
    """The page with its first frame in place: a notebook that runs out of sight may not start its script."""
    first = re.search(r'frames\[0\] = "([^"]*)"', page)[1].replace("\\\n", "")
    said = "chunks that travel between ranks, step by step; the strip of steps and the text say the same"
    return page.replace("<img id=", f'<img alt="{said}" src="{first}" id=', 1)
