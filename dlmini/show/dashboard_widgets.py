"""Drop-downs, rows and the five buttons that every dashboard has, whether it trains or replays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

import ipywidgets

from dlmini.show.live import GOING, PAUSED, RESTING

ORDERS = ("start", "pause", "step", "stop", "clear")
TOOLTIPS = {
    "when to talk": "when to talk: after every step, after several of one's own, or without waiting for anybody",
    "with whom": "with whom: everybody, a server, or some neighbours",
    "how briefly": "how briefly: how many bits or numbers of an update are sent",
    "workers": "workers: how many learn together, each from its own part of the data",
    "where": "where: processes of this machine, in real seconds; or simulated ranks, in virtual ones",
    "network": "network: messages take as long as on such a network",
    "slow": "slow: a worker that computes more slowly, from the start",
    "rank": "the rank that Kill and Slow are meant for",
    "link": "the link that Cut is meant for",
    "run": "which of the recorded runs Start plays next",
    "speed of the replay": "how many times as fast as it was recorded",
}


class Buttons:
    """Start, Pause, Step, Stop, Clear: `serve(desk)` lets them give orders to it, `reflect(state)` enables what makes
    sense now."""

    def __init__(self):
        self.start = button("Start", "dlmini-start dlmini-go", "a new run of what is chosen, drawn over those before")
        self.pause = button("Pause", "dlmini-pause", "hold every rank at the end of its round; press again to go on")
        self.step = button("Step", "dlmini-step", "while paused: one round more")
        self.stop = button("Stop", "dlmini-stop", "end the run; what it has learned until its last look stays")
        self.clear = button("Clear", "dlmini-clear", "take all curves away but those of a run that goes on")
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


def in_one_queue(widgets: Iterable[ipywidgets.Widget]) -> None:
    """A choice is heard before the Start that was pressed after it.

    A kernel may have several queues for what a browser says, and hears a widget on the one on which that spoke last
    (ipykernel 7.4): a drop-down on that of the cells, whose turn comes when a cell has ended, a button on another. So
    whenever one is heard, all of them speak: a word that changes nothing.
    """
    widgets = [*widgets]

    def speak(_) -> None:
        for widget in widgets:
            widget.send_state("tooltip")

    for widget in widgets:
        if isinstance(widget, ipywidgets.Button):
            widget.on_click(speak)
        else:
            widget.observe(speak, "value")


def leaves(widgets: Iterable[ipywidgets.Widget]) -> Iterator[ipywidgets.Widget]:
    """What can be chosen or pressed in rows of rows."""
    for widget in widgets:
        if isinstance(widget, ipywidgets.Box):
            yield from leaves(widget.children)
        elif not isinstance(widget, ipywidgets.HTML):
            yield widget


def styled(widget, *styles: str):
    for style in styles:
        widget.add_class(style)
    return widget


def menu(table: dict, label: str, *styles: str) -> ipywidgets.Dropdown:
    found = ipywidgets.Dropdown(options=list(table.items()), layout=ipywidgets.Layout(width="auto"))
    found.label = label
    return styled(found, *styles)


def field(name: str, widget, *styles: str) -> ipywidgets.VBox:
    """A drop-down with its name above, whose tooltip says more. A screen reader says its description, which is not
    shown: where that is empty, it says nothing at all."""
    widget.description = name
    title = ipywidgets.HTML(f'<span title="{escape(TOOLTIPS.get(name, name))}">{escape(name)}</span>')
    return styled(ipywidgets.VBox([title, widget]), "dlmini-field", *styles)


def row(*widgets) -> ipywidgets.Box:
    return styled(ipywidgets.Box(widgets), "dlmini-row")


def button(name: str, styles: str, tooltip: str) -> ipywidgets.Button:
    """The sign before its name is the style sheet's: to a screen reader a button is only its name."""
    return styled(ipywidgets.Button(description=name, tooltip=tooltip), *styles.split())
