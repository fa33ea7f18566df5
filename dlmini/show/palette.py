"""The look of every picture: colours that all eyes can tell apart, and letters that the last row can read.

Colours: Okabe and Ito, Color Universal Design, 2008. Phases differ in brightness too, so they survive a grey print.
Three of them, orange, sky and yellow, are light: on white paper they get a grey rim, so that every line and bar stands
out by 3 to 1, as WCAG 2.2 (1.4.11) asks of graphics.
`theme(large=True)` once, at the top of a lecture, makes every later figure fit for a projector.
"""

from __future__ import annotations

from functools import wraps
from itertools import product

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, YELLOW, BLACK = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7"),
    *("#e69f00", "#56b4e9", "#f0e442", "#000000"),
)
GREY, PALE = "#767676", "#e6e6e6"
CURVES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
STROKES = ("-", "--", ":", "-.")
PHASE = {"compute": BLUE, "communication": VERMILION, "waiting": YELLOW}
GOOD, BAD = GREEN, VERMILION
LIGHT = (ORANGE, SKY, YELLOW, PALE)  # less than 3 to 1 on white
RIM = GREY  # stands out by more than 3 to 1 on white and in the dark
HEAT = "cividis"  # made to look alike to all eyes (Nunez et al., 2018)

_large = False


def theme(large: bool = False) -> None:
    """The size of letters and lines in every figure made from now on: for a page, or for a projector."""
    global _large
    _large = large


def settings() -> dict:
    """Matplotlib's settings for the theme in force."""
    letters, line = (18, 3.5) if _large else (11, 2.0)
    return {
        "font.size": letters,
        "axes.titlesize": 1.1 * letters,
        "lines.linewidth": line,
        "lines.markersize": 3 * line,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": PALE,
        "legend.frameon": False,
        "figure.facecolor": "white",
        "savefig.dpi": 120,
    }


def themed(draw):
    """A function that draws a figure draws it by the theme, and leaves everybody else's settings alone."""

    @wraps(draw)
    def inside(*given, **named):
        from matplotlib import rc_context

        with rc_context(settings()):
            return draw(*given, **named)

    return inside


def strokes(count: int, colours: int = len(CURVES)) -> list[dict]:
    """Line styles for `count` curves: `colours` colours, then the same with the next kind of dash, and so on."""
    kinds = [{"color": colour, "linestyle": dash, **rim(colour)} for dash, colour in product(STROKES, CURVES[:colours])]
    return [kinds[i % len(kinds)] for i in range(count)]


def rim(colour: str) -> dict:
    """For a line: a grey rim where its colour is too light for white paper."""
    if colour not in LIGHT:
        return {}
    from matplotlib.patheffects import withStroke

    return {"path_effects": [withStroke(linewidth=settings()["lines.linewidth"] + 1.6, foreground=RIM)]}


def ink_on(colour: str) -> str:
    """Black or white: whichever is read more easily on it."""
    return max(("#ffffff", "#000000"), key=lambda ink: contrast(ink, colour))


def contrast(one: str, other: str) -> float:
    """WCAG's ratio of two colours, 1 to 21: (L1 + 0.05) / (L2 + 0.05) of their relative luminances."""
    dark, bright = sorted(map(luminance, (one, other)))
    return (bright + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def edge(colour: str, otherwise: str = "none") -> dict:
    """For a bar: the same."""
    return {"edgecolor": RIM, "linewidth": 1.0} if colour in LIGHT else {"edgecolor": otherwise}
