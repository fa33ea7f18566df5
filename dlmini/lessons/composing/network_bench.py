"""`network_bench(worlds)`: latency, bandwidth and speed of machines under one's fingers; the ten are priced anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import ipywidgets

from dlmini.comm.network import PRESETS
from dlmini.lessons.composing import plans as composing
from dlmini.lessons.composing.runs import Trained
from dlmini.lessons.composing.winners import plain, vectors
from dlmini.lessons.picture_desk import image
from dlmini.show.frontier import pareto
from dlmini.show.stills import WithStill
from dlmini.show.units import BYTES, said

OWN = "by the sliders"


def priced(runs: Mapping[int, Trained], latency: float, bandwidth: float, step: float) -> list:
    """Rows by the formula, on a switch."""
    network, rows = {"latency": latency, "bandwidth": bandwidth, "shared": False}, []
    for run in runs.values():
        steps = len(run.said) * run.recipe.sync.steps
        given = vectors(plain(run)), network, run.said.shape[1], run.size, step, steps
        rows.append(replace(run.row, seconds=composing.run_seconds(*given), curve=()))
    return rows


class NetworkBench(WithStill, ipywidgets.VBox):
    """A preset fills the sliders; every change draws the Pareto plot again."""

    def __init__(self, worlds: Mapping[str, Mapping[int, Trained]], latency: float = 1e-4, bandwidth: float = 117e6):
        self.worlds, self.picture = worlds, image()
        presets = [name for name, network in PRESETS.items() if hasattr(network, "link") and name != "wifi"]
        log = {"continuous_update": False, "readout_format": ".3g"}
        self.choices = {
            "data": ipywidgets.Dropdown(options=list(worlds), description="data"),
            "network": ipywidgets.Dropdown(options=[OWN, *presets], description="network"),
            "latency": ipywidgets.FloatLogSlider(1e6 * latency, min=0, max=6, description="latency, µs", **log),
            "bandwidth": ipywidgets.FloatLogSlider(bandwidth / 1e6, min=-1, max=5, description="MB/s", **log),
            "step": ipywidgets.FloatLogSlider(5, min=-1, max=3, description="a step, ms", **log),
        }
        for widget in self.choices.values():
            widget.style.description_width = "initial"
        self.choices["network"].observe(lambda _: self.preset(), "value")
        for name in ("data", "latency", "bandwidth", "step"):
            self.choices[name].observe(lambda _: self.draw(), "value")
        box = ipywidgets.Box(list(self.choices.values()), layout=ipywidgets.Layout(flex_flow="row wrap"))
        super().__init__([box, self.picture])
        self.draw()

    def preset(self) -> None:
        name = self.choices["network"].value
        if name != OWN:
            link = PRESETS[name].link
            self.choices["latency"].value = 1e6 * link.latency
            self.choices["bandwidth"].value = (link.upload or link.bandwidth) / 1e6

    def draw(self) -> None:
        latency, bandwidth, step = (self.choices[name].value for name in ("latency", "bandwidth", "step"))
        rows = priced(self.worlds[self.choices["data"].value], latency / 1e6, 1e6 * bandwidth, step / 1e3)
        title = f"{said(latency / 1e6)} and {said(1e6 * bandwidth, BYTES)}/s, a step takes {said(step / 1e3)}"
        self.figure = pareto(rows, title=title)
        self.picture.show(self.figure)


def network_bench(worlds: Mapping[str, Mapping[int, Trained]], **start) -> NetworkBench:
    """Sliders for the network; worlds: runs by the name of their data."""
    return NetworkBench(worlds, **start)
