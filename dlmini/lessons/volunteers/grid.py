"""Hosts as a grid that come, go, fail and lie, while the real dispatcher hands out units: sliders, Start, a curve."""

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets
import numpy as np

from dlmini.lessons.canvas import Picture, Stage, on_tiles, write_letters
from dlmini.lessons.controls import Desk, Frame
from dlmini.lessons.volunteers.crowds import DAY, SEATS, UNITS, Watched
from dlmini.show.palette import BLACK, BLUE, GREEN, GREY, PALE, PURPLE, VERMILION, YELLOW, themed
from dlmini.show.paper import sheet

ACROSS, TILE, GAP, FRAMES = 9, 14, 2, 300
# what the log says -> what a host's tile shows from then on
LOOKS = {
    "idle": ("idle", PALE),
    "sent": ("works", BLUE),
    "good": ("good result", GREEN),
    "lie": ("a lie", PURPLE),
    "failed": ("failed", VERMILION),
    "off": ("switched off", "#ffffff"),
    "late": ("too late", YELLOW),
    "found out": ("found out", BLACK),
}

SIGNS = {"sent": "w", "good": "g", "lie": "l", "failed": "f", "off": "–", "late": "t", "found out": "x"}  # on tiles
TOLD = "w works, g good result, f failed, t too late, l a lie, x found out, – switched off"


def bytes_of(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], np.uint8)


def board(seats: list[str]) -> np.ndarray:
    """A tile for each host, in the colour of what it did last; a white one is switched off."""
    step = TILE + GAP
    pixels = np.full((-(-SEATS // ACROSS) * step - GAP, ACROSS * step - GAP, 3), 200, np.uint8)
    for k, what in enumerate(seats):
        top, left = k // ACROSS * step, k % ACROSS * step
        pixels[top : top + TILE, left : left + TILE] = bytes_of(LOOKS[what][1])
    return pixels


def moments(crowd: Watched) -> Iterator[tuple[float, list[str], int, str]]:
    """(days, what each host did last, answers so far, what happened) after every line of the log."""
    seats, came = ["idle"] * SEATS, 0
    for seconds, host, what in sorted(crowd.log, key=lambda line: line[0]):
        seats[host] = what
        came += what in ("good", "lie")
        yield seconds / DAY, list(seats), came, f"host {host}: {LOOKS[what][0]}"


def summary(crowd: Watched) -> str:
    text = f"{crowd.days:.1f} days, {crowd.results} results for {UNITS} units, {crowd.good:.0%} of them good; "
    return text + f"{crowd.wrong} lies accepted, {crowd.given_up} units given up."


def frames(crowd: Watched) -> Iterator[Frame]:
    every = max(1, len(crowd.log) // FRAMES)
    yield Frame([picture(["idle"] * SEATS)], (0.0, 0.0), "")
    for k, (days, seats, came, said) in enumerate(moments(crowd)):
        if k % every == 0:
            yield Frame([picture(seats)], (days, came), f"day {days:.1f}, {said}")
    yield Frame([picture(seats)], (days, came), summary(crowd))


def picture(seats: list[str]) -> Picture:
    return Picture(TOLD, board(seats), letters=signs(seats))


def signs(seats: list[str]) -> tuple[tuple[float, float, str], ...]:
    """What each tile says besides its colour."""
    return on_tiles([SIGNS.get(what, "") for what in seats], ACROSS, -(-SEATS // ACROSS), TILE, GAP)


@themed
def stills(crowd: Watched, columns: int = 4):
    """The grid at so many moments, evenly over the time, and what the colours mean."""
    figure, axes = sheet(12, 2.8, columns=columns)
    seen = list(moments(crowd))
    for k, ax in enumerate(axes):
        days, seats, came, _ = [one for one in seen if one[0] <= crowd.days * (k + 1) / columns][-1]
        pixels = board(seats)
        ax.imshow(pixels, interpolation="nearest", extent=(0, pixels.shape[1], pixels.shape[0], 0))
        write_letters(ax, picture(seats))
        ax.set(title=f"day {days:.1f}: {came} answers", xticks=[], yticks=[])
        ax.grid(visible=False)
    inks = [axes[0].barh(0, 0, color=colour, edgecolor=GREY) for _, colour in LOOKS.values()]
    words = [f"{word} ({SIGNS[what]})" if what in SIGNS else word for what, (word, _) in LOOKS.items()]
    figure.legend(inks, words, loc="outside lower center", ncols=len(LOOKS))
    return figure


def live_hosts() -> ipywidgets.VBox:
    """Choose how many units fail, the quorum, the deadline and how many hosts lie; press Start."""
    return hosts_desk().box()


def shares(*values: float) -> list[tuple[str, float]]:
    return [(f"{value:.0%}", value) for value in values]


def hosts_desk() -> Desk:
    slider = ipywidgets.SelectionSlider
    choices = {
        "fails": slider(options=shares(0.0, 0.05, 0.2, 0.5), value=0.05, description="copies that fail"),
        "quorum": ipywidgets.IntSlider(2, 1, 5, description="quorum"),
        "hours": slider(options=[1, 2, 4, 8, 12, 24, 48], value=12, description="deadline, hours"),
        "liars": slider(options=shares(0.0, 0.1, 0.2, 0.4), value=0.1, description="hosts that lie"),
    }

    def chosen() -> dict:
        return {name: widget.value for name, widget in choices.items()}

    def label() -> str:
        return "quorum {quorum}, {hours} h, {liars:.0%} lie, {fails:.0%} fail".format(**chosen())

    stage = Stage(axes=["days of virtual time", "answers that came"])
    return Desk(
        stage,
        choices,
        lambda: frames(Watched(**chosen())),
        label,
        pause=lambda: 0.02,
        still=lambda: stills(Watched(**chosen()), 2),
    )
