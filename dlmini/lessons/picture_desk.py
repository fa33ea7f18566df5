"""Sliders and one picture: every change draws it again."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from dlmini.show.paper import Sheet, WithStill


def image() -> ipywidgets.Image:
    """Room for a picture in its own size, or as much of it as there is place for."""
    return ipywidgets.Image(format="png", layout={"width": "auto", "max_width": "100%", "align_self": "flex-start"})


class StillBox(WithStill, ipywidgets.VBox):
    """Widgets, and what draws the picture that stands for them where there are none."""

    def __init__(self, children, still: Callable[[], Sheet]):
        self.still = still
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
        self.picture.value = self.figure._repr_png_()
