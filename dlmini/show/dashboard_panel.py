"""The drop-downs and buttons of a dashboard: what can be chosen, and what can be pressed when."""

from __future__ import annotations

import ipywidgets

from dlmini.show import dashboard_choices as choices
from dlmini.show.dashboard_widgets import Buttons, button, field, menu, row, styled
from dlmini.show.live import GOING


class Panel(Buttons):
    """`rows` of widgets: what shall be trained, the usual buttons, and those that break something."""

    def __init__(self, menus, workers: int, where: str, slow=None):
        super().__init__()
        self.when, self.whom, self.briefly, self.network = (menu(*offer) for offer in menus)
        self.workers = menu({str(n): n for n in sorted({*choices.WORKERS, workers})}, str(workers))
        self.where = menu(choices.WHERE, choices.known_place(where))
        self.slow = menu(*choices.slow_ranks(workers, slow))
        self.kill = button("Kill", "dlmini-kill dlmini-break")
        self.slower, self.cut = button("Slow", "dlmini-slow dlmini-break"), button("Cut", "dlmini-cut dlmini-break")
        self.rank, self.link = (
            menu({"rank 0": 0}, "rank 0", "dlmini-short"),
            menu({"none": None}, "none", "dlmini-short"),
        )
        self.breaking = (self.rank, self.kill, self.slower, self.link, self.cut)
        self.rows = [self._choices(), styled(row(self.orders, row(*self.breaking)), "dlmini-split")]
        self._recount(keep=True)

    def serve(self, desk) -> None:
        super().serve(desk)
        self.kill.on_click(lambda _: desk.order(lambda run: run.kill(self.rank.value)))
        self.slower.on_click(lambda _: desk.order(self._toggle_slow))
        self.cut.on_click(lambda _: desk.order(self._toggle_cut))
        for choice in (self.workers, self.whom):
            choice.observe(lambda _: self._recount(), "value")
        for choice in (self.rank, self.link):
            choice.observe(lambda _: self._name_toggles(), "value")

    def _choices(self) -> ipywidgets.Box:
        wide = {"when to talk": self.when, "with whom": self.whom, "how briefly": self.briefly}
        small = {"workers": self.workers, "where": self.where, "network": self.network, "slow": self.slow}
        return row(*(field(*item) for item in wide.items()), *(field(*item, "small") for item in small.items()))

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
        super().reflect(state)
        for widget in self.breaking:
            widget.disabled = state not in GOING
        self._name_toggles(state in GOING)

    def chosen(self) -> dict:
        """What the drop-downs say, as objects."""
        levels = {"sync": self.when.value, "topology": self.whom.value, "compression": self.briefly.value}
        place = {"where": self.where.value, "network": self.network.value, "slow": self.slow.value}
        return {**levels, "workers": self.workers.value, **place}

    def label(self) -> str:
        """What the drop-downs say, for the legend."""
        told = [self.when.label, self.whom.label, self.briefly.label]
        told += [counted(self.workers.value) + (" (simulated)" if self.where.value == "simulated" else "")]
        told += [self.network.label] if self.network.value is not None else []
        told += [f"slow: {self.slow.label}"] if self.slow.value else []
        return " · ".join(told)


def counted(workers: int) -> str:
    return f"{workers} worker" if workers == 1 else f"{workers} workers"
