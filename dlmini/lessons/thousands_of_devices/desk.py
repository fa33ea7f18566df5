"""The desk of lesson 16: lay bloom-176b out on 384 devices, and see at once whether it fits and what a step takes."""

from __future__ import annotations

import ipywidgets

from dlmini.lessons.picture_desk import PictureDesk
from dlmini.lessons.thousands_of_devices.jobs import BATCH, DEVICES_THERE, LARGE, told
from dlmini.lessons.thousands_of_devices.pictures import layout_bars, refused
from dlmini.plan import Forecast, Layout
from dlmini.show.paper import Sheet

PIPES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
COPIES = (1, 2, 4, 8, 16, 32, 64, 128)


class Tries:
    """Draws what was chosen, and remembers the fastest that fits."""

    def __init__(self):
        self.best: Forecast | None = None

    def drawn(self, tensor: int, pipe: int, data: int, micro: int, zero: int, recompute: str, sequence: bool) -> Sheet:
        if (used := tensor * pipe * data) != DEVICES_THERE:
            return refused(f"{tensor} x {pipe} x {data} are {used:,} devices; there are {DEVICES_THERE}.")
        layout = Layout(tensor, pipe, data, micro, zero=zero, recompute=recompute, sequence_parallel=sequence)
        if fault := layout.fault(LARGE, BATCH):
            return refused(fault)
        found = told(layout)
        if found.fits and (self.best is None or found.seconds < self.best.seconds):
            self.best = found
        return layout_bars(found, self.best)


def desk(**start) -> PictureDesk:
    """The desk, beginning with what is given: desk(tensor=8, pipe=6, data=8)."""
    tries = Tries()
    choices = {
        "tensor": ipywidgets.SelectionSlider(options=(1, 2, 4, 8), value=8, description="tensor"),
        "pipe": ipywidgets.SelectionSlider(options=PIPES, value=3, description="pipe"),
        "data": ipywidgets.SelectionSlider(options=COPIES, value=16, description="data"),
        "micro": ipywidgets.SelectionSlider(options=(1, 2, 4, 8), value=1, description="micro-batch"),
        "zero": ipywidgets.IntSlider(0, 0, 3, description="ZeRO stage"),
        "recompute": ipywidgets.Dropdown(options=("none", "selective", "full"), description="computed again"),
        "sequence": ipywidgets.Checkbox(False, description="sequence parallel"),
    }
    made = PictureDesk(choices, tries.drawn, start)
    made.tries = tries
    return made
