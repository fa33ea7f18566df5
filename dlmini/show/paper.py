"""A sheet to draw on: a matplotlib figure without pyplot, so nothing is kept behind anybody's back.

A notebook shows it by itself, with a text that says what is drawn; a script writes it with `savefig`.
"""

from __future__ import annotations

from io import BytesIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

DPI = 96
NAMES = 8  # of lines, in a text that describes a picture


class Sheet(Figure):
    """A figure that knows how to appear in a notebook even if pyplot was never imported."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()

    def _repr_mimebundle_(self, **given) -> tuple[dict, dict]:
        return picture_of(self)

    def __repr__(self) -> str:
        return described(self)


def sheet(width: float, height: float, rows: int = 1, columns: int = 1, **options):
    """A new figure of so many inches, and its axes: one, or an array of them."""
    figure = Sheet(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, **options)


def picture_of(figure: Sheet) -> tuple[dict, dict]:
    """What a notebook keeps of a figure: the picture, and in words what is on it (the metadata `alt`)."""
    said = described(figure)
    return {"image/png": figure._repr_png_(), "text/plain": said}, {"image/png": {"alt": said}}


def described(figure: Figure) -> str:
    """What is drawn, for who cannot see it: titles, axes, and the names of lines, bars and fields."""
    said = [figure.get_suptitle()] if figure.get_suptitle() else []
    said += filter(None, (of_axes(axes) for axes in figure.axes if axes.get_visible()))
    return "Figure. " + " ".join(one.rstrip(".") + "." for one in map(flat, said) if one) if said else "Figure."


def of_axes(axes) -> str:
    """One panel: what it is called, what is against what, who is in it."""
    title = next(filter(None, (axes.get_title(loc=loc) for loc in ("left", "center", "right"))), "")
    up, across = axes.get_ylabel(), axes.get_xlabel()
    against = f"{up} against {across}" if up and across else up or across
    names = list(dict.fromkeys(text for text in names_of(axes) if text))
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    shown = f"{kind_of(axes)}: {', '.join(names[:NAMES])}{more}" if names else ""
    return "; ".join(filter(None, (title, against, shown)))


def names_of(axes) -> list[str]:
    """The legend's names; else those at the ticks, if these are words."""
    _, labels = axes.get_legend_handles_labels()
    if labels:
        return labels
    ticks = [text.get_text() for axis in (axes.xaxis, axes.yaxis) for text in axis.get_ticklabels()]
    return [text for text in ticks if any(letter.isalpha() for letter in text)]


def kind_of(axes) -> str:
    return "a picture" if axes.images else "lines" if axes.lines else "bars" if axes.patches else "points"


def flat(text: str) -> str:
    """In one line, without the dollars of formulas."""
    return " ".join(text.replace("$", "").split())


class WithStill:
    """Of a widget: where widgets do not work (a static copy, paper), the picture `still()` is there, and its words."""

    def still(self) -> Sheet:
        return self.figure

    def _repr_mimebundle_(self, **given) -> dict:
        return {**super()._repr_mimebundle_(**given), **picture_of(self.still())[0]}
