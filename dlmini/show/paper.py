"""A sheet to draw on: a matplotlib figure without pyplot, so nothing is kept behind anybody's back.

A notebook shows it by itself, with a text that says what is drawn; a script writes it with `savefig`.
"""

from __future__ import annotations

from base64 import b64encode
from html import escape
from io import BytesIO

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

DPI = 96
NAMES = 8  # of lines, in a text that describes a picture
DARK = (  # JupyterLab, VS Code and Voila say in their own ways that the page is dark
    "<style>.dlmini-figure{position:relative;display:inline-block;max-width:100%}"
    ".dlmini-figure img{display:block;max-width:100%}.dlmini-figure i{display:none}"
    ':is([data-jp-theme-light="false"],.vscode-dark,.theme-dark) .dlmini-figure i{display:block;position:absolute;'
    "inset:0;pointer-events:none;backdrop-filter:invert(.93) hue-rotate(180deg)}</style>"
)


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
    png, said = figure._repr_png_(), described(figure)
    found = {"text/html": page_of(figure, png, said), "image/png": png, "text/plain": said}
    return found, {"image/png": {"alt": said}}


def page_of(figure: Sheet, png: bytes, said: str) -> str:
    """The picture with its words; in a dark theme a sheet lies over it that turns white to black and keeps hues.

    The sheet has holes where colours mean something: photographs, maps of heat and their scales.
    """
    source = f"data:image/png;base64,{b64encode(png).decode()}"
    sheet = f'<i style="clip-path:polygon(evenodd,{",".join(cut_out(figure))})"></i>'
    return f'{DARK}<div class="dlmini-figure"><img src="{source}" alt="{escape(said)}">{sheet}</div>'


def cut_out(figure: Sheet) -> list[str]:
    """Corners of the whole and of each hole, in per cent from the left and from the top."""
    found, whole = ["0% 0%,100% 0%,100% 100%,0% 100%,0% 0%"], figure.bbox
    for box in (axes.get_window_extent() for axes in figure.axes if is_painted(axes)):
        left, right = (100 * x / whole.width for x in (box.x0, box.x1))
        top, bottom = (100 * (1 - y / whole.height) for y in (box.y1, box.y0))
        corners = ((left, top), (right, top), (right, bottom), (left, bottom), (left, top))
        found.append(",".join(f"{x:.2f}% {y:.2f}%" for x, y in corners) + ",0% 0%")
    return found


def is_painted(axes) -> bool:
    """Whether it shows an image, or the scale of one."""
    from matplotlib.collections import QuadMesh

    return bool(axes.get_visible() and (axes.images or any(isinstance(one, QuadMesh) for one in axes.collections)))


def described(figure: Figure) -> str:
    """What is drawn, for who cannot see it: titles, axes, and the names of lines, bars and fields."""
    said = [figure.get_suptitle()] if figure.get_suptitle() else []
    said += filter(None, (of_axes(axes) for axes in figure.axes if axes.get_visible()))
    known = {text for axes in figure.axes for text in names_of(axes)}
    beside = [text for legend in figure.legends for text in legend_of(legend) if text not in known]
    said += ["Beside: " + ", ".join(dict.fromkeys(beside))] if beside else []
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
    """The names of what is drawn and what stands in the legend; else those at the ticks, if these are words."""
    _, labels = axes.get_legend_handles_labels()
    if labels or axes.get_legend():
        return labels + legend_of(axes.get_legend())
    ticks = [text.get_text() for axis in (axes.xaxis, axes.yaxis) for text in axis.get_ticklabels()]
    return [text for text in ticks if any(letter.isalpha() for letter in text) and not text.startswith("$")]


def legend_of(legend) -> list[str]:
    """What a legend says, which may be of colours that no line is named by; its title first."""
    if legend is None:
        return []
    title, names = legend.get_title().get_text(), [text.get_text() for text in legend.get_texts()]
    return [f"{title}: {names[0]}", *names[1:]] if title and names else names


def kind_of(axes) -> str:
    return "a picture" if axes.images else "lines" if axes.lines else "bars" if axes.patches else "points"


def flat(text: str) -> str:
    """In one line, without the dollars of formulas."""
    return " ".join(text.replace("$", "").split())
