"""`what_if()`: sliders over a few bulk-synchronous steps in virtual time, and their timeline."""

from __future__ import annotations

import ipywidgets

from dlmini.comm.network import PRESETS
from dlmini.lessons.data_parallelism.costs import bulk, equal, split
from dlmini.show.gantt import timeline
from dlmini.show.paper import Sheet
from dlmini.show.units import said

STEPS = 4  # that are drawn


def drawn(machines: int, slow: float, jitter: float, gradient: float, megabytes: float, network: str) -> Sheet:
    """The timeline of four steps. slow: how many times longer machine 1 takes; gradient: in milliseconds."""
    speed = {1: 1 / slow} if machines > 1 else {}
    times, nbytes = equal(machines, gradient / 1e3, STEPS), int(megabytes * 1e6)
    results = bulk(times, nbytes, PRESETS[network], speed, jitter)
    mean = split("", results, STEPS)
    share = {name: getattr(mean, name) / mean.seconds for name in ("compute", "communication", "waiting")}
    shares = ", ".join(f"{name} {part:.0%}" for name, part in share.items())
    return timeline(results.events, title=f"a step takes {said(mean.seconds)}: {shares}")


class WhatIf(ipywidgets.VBox):
    """Sliders and a picture; every change draws it again."""

    def __init__(self, **start):
        choices = {
            "machines": ipywidgets.IntSlider(4, 1, 16, description="machines"),
            "slow": ipywidgets.FloatSlider(1.0, min=1.0, max=5.0, step=0.25, description="machine 1 slower ×"),
            "jitter": ipywidgets.FloatSlider(0.0, min=0.0, max=1.0, step=0.05, description="jitter"),
            "gradient": ipywidgets.FloatLogSlider(20, min=0, max=3, step=0.05, description="gradient, ms"),
            "megabytes": ipywidgets.FloatLogSlider(0.32, min=-2, max=3, step=0.05, description="gradient, MB"),
            "network": ipywidgets.Dropdown(options=list(PRESETS), value="gigabit", description="network"),
        }
        for name, widget in choices.items():
            widget.style.description_width, widget.continuous_update = "initial", False
            widget.value = start.get(name, widget.value)
            widget.observe(lambda _: self.draw(), "value")
        self.choices, self.picture = choices, ipywidgets.Image(format="png")
        box = ipywidgets.Box(list(choices.values()), layout=ipywidgets.Layout(flex_flow="row wrap"))
        super().__init__([box, self.picture])
        self.draw()

    def draw(self) -> None:
        self.figure = drawn(**{name: widget.value for name, widget in self.choices.items()})
        self.picture.value = self.figure._repr_png_()

    def _repr_mimebundle_(self, **given):
        """Where there are no widgets, the picture is still there."""
        return {**super()._repr_mimebundle_(**given), "image/png": self.figure._repr_png_()}


def what_if(**start) -> WhatIf:
    """The sliders, beginning with what is given: what_if(machines=4, slow=2)."""
    return WhatIf(**start)
