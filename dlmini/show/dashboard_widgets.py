"""Drop-downs, rows and the five buttons that every dashboard has, whether it trains or replays."""

from __future__ import annotations

import ipywidgets

from dlmini.show.live import GOING, PAUSED, RESTING

ORDERS = ("start", "pause", "step", "stop", "clear")


class Buttons:
    """Start, Pause, Step, Stop, Clear: `serve(desk)` lets them give orders to it, `reflect(state)` enables what makes
    sense now."""

    def __init__(self):
        self.start, self.clear = button("Start", "dlmini-start dlmini-go"), button("Clear", "dlmini-clear")
        self.pause, self.step = button("Pause", "dlmini-pause"), button("Step", "dlmini-step")
        self.stop = button("Stop", "dlmini-stop")
        self.orders = row(*(getattr(self, name) for name in ORDERS))

    def serve(self, desk) -> None:
        self.desk = desk
        for name in ORDERS:
            getattr(self, name).on_click(lambda _, name=name: getattr(desk, name)())

    def reflect(self, state: str) -> None:
        resting, going = state in RESTING, state in GOING
        self.start.disabled, self.stop.disabled = not resting, resting
        self.pause.disabled, self.step.disabled = not going, state != PAUSED
        self.pause.description = "Resume" if state == PAUSED else "Pause"

    def turn_over(self) -> None:
        """A run has come to its end."""


def styled(widget, *styles: str):
    for style in styles:
        widget.add_class(style)
    return widget


def menu(table: dict, label: str, *styles: str) -> ipywidgets.Dropdown:
    found = ipywidgets.Dropdown(options=list(table.items()), layout=ipywidgets.Layout(width="auto"))
    found.label = label
    return styled(found, *styles)


def field(name: str, widget, *styles: str) -> ipywidgets.VBox:
    """A drop-down with its name above."""
    return styled(ipywidgets.VBox([ipywidgets.HTML(name), widget]), "dlmini-field", *styles)


def row(*widgets) -> ipywidgets.Box:
    return styled(ipywidgets.Box(widgets), "dlmini-row")


def button(name: str, styles: str) -> ipywidgets.Button:
    """The sign before its name is the style sheet's: to a screen reader a button is only its name."""
    return styled(ipywidgets.Button(description=name), *styles.split())
