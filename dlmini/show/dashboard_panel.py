"""The drop-downs and buttons of a dashboard: what can be chosen, and what can be pressed when."""

from __future__ import annotations

import ipywidgets

from dlmini.show import dashboard_choices as choices
from dlmini.show.live import GOING, PAUSED, RESTING
from dlmini.show.replay import AT_ONCE

SPEEDS = {"¼ ×": 0.25, "1 ×": 1.0, "4 ×": 4.0, "16 ×": 16.0, "64 ×": 64.0, "at once": AT_ONCE}


class Panel:
    """`rows` of widgets; `serve(desk)` lets them give orders to it, `reflect(state)` enables what makes sense now."""

    def __init__(self, menus, workers: int, where: str, slow=None, speed: float | None = None):
        self.when, self.whom, self.briefly, self.network = (menu(*offer) for offer in menus)
        self.workers = menu({str(n): n for n in sorted({*choices.WORKERS, workers})}, str(workers))
        self.where = menu(choices.WHERE, choices.known_place(where))
        self.slow = menu(*choices.slow_ranks(workers, slow))
        self.speed = None if speed is None else menu(*choices.offered(SPEEDS, speed))
        self.start, self.clear = button("Start", "dlmini-start dlmini-go"), button("Clear", "dlmini-clear")
        self.pause, self.step = button("Pause", "dlmini-pause"), button("Step", "dlmini-step")
        self.stop, self.kill = button("Stop", "dlmini-stop"), button("Kill", "dlmini-kill dlmini-break")
        self.slower, self.cut = button("Slow", "dlmini-slow dlmini-break"), button("Cut", "dlmini-cut dlmini-break")
        self.rank, self.link = (
            menu({"rank 0": 0}, "rank 0", "dlmini-short"),
            menu({"none": None}, "none", "dlmini-short"),
        )
        self.breaking = (self.rank, self.kill, self.slower, self.link, self.cut)
        self.rows = [self._choices() if speed is None else self._replaying(), self._orders()]
        self._recount(keep=True)

    def serve(self, desk) -> None:
        self.desk = desk
        for name in ("start", "pause", "step", "stop", "clear"):
            getattr(self, name).on_click(lambda _, name=name: getattr(desk, name)())
        self.kill.on_click(lambda _: desk.order(lambda run: run.kill(self.rank.value)))
        self.slower.on_click(lambda _: desk.order(self._toggle_slow))
        self.cut.on_click(lambda _: desk.order(self._toggle_cut))
        for choice in (self.workers, self.whom):
            choice.observe(lambda _: self._recount(), "value")
        for choice in (self.rank, self.link):
            choice.observe(lambda _: self._name_toggles(), "value")
        if self.speed is not None:
            self.speed.observe(lambda change: desk.order(lambda run: setattr(run, "speed", change.new)), "value")

    def _choices(self) -> ipywidgets.Box:
        wide = {"when to talk": self.when, "with whom": self.whom, "how briefly": self.briefly}
        small = {"workers": self.workers, "where": self.where, "network": self.network, "slow": self.slow}
        return row(*(field(*item) for item in wide.items()), *(field(*item, "small") for item in small.items()))

    def _replaying(self) -> ipywidgets.Box:
        return row(field("speed of the replay", self.speed, "narrow"))

    def _orders(self) -> ipywidgets.Box:
        usual = (self.start, self.pause, self.step, self.stop, self.clear)
        return row(*usual) if self.speed is not None else styled(row(row(*usual), row(*self.breaking)), "dlmini-split")

    def _recount(self, keep: bool = False) -> None:
        """Other ranks, other choices."""
        workers, ranks = self.workers.value, self.workers.value + self.whom.value.servers
        names = [f"rank {rank}" if rank < workers else f"server {rank}" for rank in range(ranks)]
        self.rank.options = list(zip(names, range(ranks), strict=True))
        self.rank.value = min(1, ranks - 1)
        self.link.options = list(choices.links(ranks).items()) or [("none", None)]
        if not keep:
            self.slow.options = list(choices.slow_ranks(workers)[0].items())

    # ---- orders whose meaning depends on what was done before ----

    def _toggle_slow(self, run) -> None:
        run.control.slow(self.rank.value, 1.0 if self._is_slow(run) else choices.SLOWER)
        self._name_toggles()

    def _toggle_cut(self, run) -> None:
        if self.link.value is not None:
            (run.control.heal if self._is_cut(run) else run.control.cut)(*self.link.value)
        self._name_toggles()

    def _is_slow(self, run) -> bool:
        return self.rank.value is not None and run.control.factor[self.rank.value] > 1

    def _is_cut(self, run) -> bool:
        return self.link.value in run.control.cut_links()

    def _name_toggles(self, going: bool = True) -> None:
        run = self.desk.source
        going = going and hasattr(run, "control")
        self.slower.description = "Speed up" if going and self._is_slow(run) else "Slow"
        self.cut.description = "Heal" if going and self._is_cut(run) else "Cut"

    def reflect(self, state: str) -> None:
        resting, going = state in RESTING, state in GOING
        self.start.disabled, self.stop.disabled = not resting, resting
        self.pause.disabled, self.step.disabled = not going, state != PAUSED
        self.pause.description = "Resume" if state == PAUSED else "Pause"
        for widget in self.breaking:
            widget.disabled = not going
        self._name_toggles(going)

    def chosen(self) -> dict:
        """What the drop-downs say, as objects."""
        levels = {"sync": self.when.value, "topology": self.whom.value, "compression": self.briefly.value}
        place = {"where": self.where.value, "network": self.network.value, "slow": self.slow.value}
        return {**levels, "workers": self.workers.value, **place}

    def label(self) -> str:
        """What the drop-downs say, for the legend."""
        told = [self.when.label, self.whom.label, self.briefly.label]
        told += [f"{self.workers.value} workers" + (" (simulated)" if self.where.value == "simulated" else "")]
        told += [self.network.label] if self.network.value is not None else []
        told += [f"slow: {self.slow.label}"] if self.slow.value else []
        return " · ".join(told)


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
