"""A sheet to draw on: a matplotlib figure without pyplot, so nothing is kept behind anybody's back.

A notebook shows it by itself; a script writes it with `savefig`.
"""

from __future__ import annotations

from io import BytesIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

DPI = 96


class Sheet(Figure):
    """A figure that knows how to appear in a notebook even if pyplot was never imported."""

    def _repr_png_(self) -> bytes:
        picture = BytesIO()
        self.savefig(picture, format="png")
        return picture.getvalue()


def sheet(width: float, height: float, rows: int = 1, columns: int = 1, **options):
    """A new figure of so many inches, and its axes: one, or an array of them."""
    figure = Sheet(figsize=(width, height), dpi=DPI, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, **options)
