"""`what_if()`: sliders over a few bulk-synchronous steps in virtual time, and their timeline."""

from __future__ import annotations

import ipywidgets

from dlmini.comm.network import PRESETS
from dlmini.lessons.data_parallelism.costs import bulk, equal, split
from dlmini.lessons.picture_desk import PictureDesk
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


class WhatIf(PictureDesk):
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
        super().__init__(choices, drawn, start)


def what_if(**start) -> WhatIf:
    """The sliders, beginning with what is given: what_if(machines=4, slow=2)."""
    return WhatIf(**start)
