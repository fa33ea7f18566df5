"""Sliders and one picture: every change draws it again."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets


class PictureDesk(ipywidgets.VBox):
    """`drawn(**values)` makes the figure; `start` are values to begin with, by the names of the choices."""

    def __init__(self, choices: dict[str, ipywidgets.Widget], drawn: Callable, start: dict):
        for name, widget in choices.items():
            widget.style.description_width, widget.continuous_update = "initial", False
            widget.value = start.get(name, widget.value)
            widget.observe(lambda _: self.draw(), "value")
        self.drawn, self.choices, self.picture = drawn, choices, ipywidgets.Image(format="png")
        box = ipywidgets.Box(list(choices.values()), layout=ipywidgets.Layout(flex_flow="row wrap"))
        super().__init__([box, self.picture])
        self.draw()

    def draw(self) -> None:
        self.figure = self.drawn(**{name: widget.value for name, widget in self.choices.items()})
        self.picture.value = self.figure._repr_png_()

    def _repr_mimebundle_(self, **given):
        """Where there are no widgets, the picture is still there."""
        return {**super()._repr_mimebundle_(**given), "image/png": self.figure._repr_png_()}
