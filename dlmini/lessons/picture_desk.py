"""Sliders and one picture: every change draws it again."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from dlmini.show.paper import Sheet, picture_of
from dlmini.show.stills import WithStill


class Pictured(ipywidgets.HTML):
    """Room for a figure, with the words that describe it; in the dark it is dark. `bundle` is what paper gets of it."""

    def show(self, figure: Sheet) -> None:
        self.bundle = picture_of(figure)[0]
        self.value = self.bundle["text/html"]


def image() -> Pictured:
    """Room for a picture in its own size, or as much of it as there is place for."""
    return Pictured(layout={"width": "auto", "max_width": "100%", "align_self": "flex-start"})


class StillBox(WithStill, ipywidgets.VBox):
    """Widgets, and what draws the picture that stands for them where there are none."""

    def __init__(self, children, still: Callable[[], Sheet]):
        self.still = still
        self.picture = next((child for child in children if isinstance(child, Pictured)), None)
        super().__init__(children)


class PictureDesk(WithStill, ipywidgets.VBox):
    """`drawn(**values)` makes the figure; `start` are values to begin with, by the names of the choices."""

    def __init__(self, choices: dict[str, ipywidgets.Widget], drawn: Callable, start: dict):
        for name, widget in choices.items():
            widget.style.description_width, widget.continuous_update = "initial", False
            widget.value = start.get(name, widget.value)
            widget.observe(lambda _: self.draw(), "value")
        self.drawn, self.choices, self.picture = drawn, choices, image()
        box = ipywidgets.Box(list(choices.values()), layout=ipywidgets.Layout(flex_flow="row wrap"))
        super().__init__([box, self.picture])
        self.draw()

    def draw(self) -> None:
        self.figure = self.drawn(**{name: widget.value for name, widget in self.choices.items()})
        self.picture.show(self.figure)
