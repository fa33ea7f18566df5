"""The drop-downs and buttons of a dashboard: what can be chosen, and what can be pressed when."""

from __future__ import annotations

from dataclasses import replace

import ipywidgets

from dlmini.show import dashboard_choices as choices
from dlmini.show.dashboard_widgets import Buttons, button, field, menu, row, styled
from dlmini.show.live import GOING


class Breakable(Buttons):
    """`rows` of widgets: what shall be trained, the usual buttons, and those that break something.

    wide: drop-downs by their names, which say by which method; a panel adds where, on how many workers, how connected.
    """

    who = "workers"

    def __init__(self, wide: dict[str, ipywidgets.Dropdown], network, workers: int, where: str, slow=None):
        super().__init__()
        self.wide, self.network = wide, menu(*network)
        self.workers = menu({str(n): n for n in sorted({*choices.WORKERS, workers})}, str(workers))
        self.where = menu(choices.WHERE, choices.known_place(where))
        self.slow = menu(*choices.slow_ranks(workers, slow))
        self.kill = button("Kill", "dlmini-kill dlmini-break", "kill the rank, as by a power cut: who can go on?")
        longer = f"let the rank compute {choices.SLOWER:g} times as long; press again to end that"
        self.slower = button("Slow", "dlmini-slow dlmini-break", longer)
        self.cut = button(
            "Cut", "dlmini-cut dlmini-break", "hold all messages of the link; press again to let them pass"
        )
        self.rank, self.link = (
            menu({"rank 0": 0}, "rank 0"),
            menu({"none": None}, "none"),
        )
        self.breaking = (self.rank, self.kill, self.slower, self.link, self.cut)
        broken = field("rank", self.rank, "tiny"), self.kill, self.slower, field("link", self.link, "tiny"), self.cut
        self.rows = [self._choices(), styled(row(self.orders, row(*broken)), "dlmini-split")]
        self._recount(keep=True)

    def serve(self, desk) -> None:
        super().serve(desk)
        self.kill.on_click(lambda _: desk.order(lambda run: run.kill(self.rank.value)))
        self.slower.on_click(lambda _: desk.order(self._toggle_slow))
        self.cut.on_click(lambda _: desk.order(self._toggle_cut))
        for choice in (self.workers, *self.wide.values()):
            choice.observe(lambda _: self._recount(), "value")
        for choice in (self.rank, self.link):
            choice.observe(lambda _: self._name_toggles(), "value")

    def _choices(self) -> ipywidgets.Box:
        small = {self.who: self.workers, "where": self.where, "network": self.network, "slow": self.slow}
        return row(*(field(*item) for item in self.wide.items()), *(field(*item, "small") for item in small.items()))

    def _recount(self, keep: bool = False) -> None:
        """Other ranks, other choices; what is not another number of them changes nothing."""
        workers = self.workers.value
        names = [*(f"rank {rank}" for rank in range(workers)), *self.others(workers)]
        ranks = len(names)
        if [name for name, _ in self.rank.options] == names:
            return
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
        going = going and hasattr(run, "control") and self.desk.live.state in GOING  # one that ended had other ranks
        self.slower.description = "Speed up" if going and self._is_slow(run) else "Slow"
        self.cut.description = "Heal" if going and self._is_cut(run) else "Cut"

    def reflect(self, state: str) -> None:
        super().reflect(state)
        for widget in self.breaking:
            widget.disabled = state not in GOING
        self._name_toggles(state in GOING)

    def others(self, workers: int) -> list[str]:
        """What the ranks are called that are no workers."""
        raise NotImplementedError

    def pieces(self) -> dict:
        """What says by which method, as objects."""
        raise NotImplementedError

    def chosen(self) -> dict:
        """What the drop-downs say, as objects."""
        place = {"where": self.where.value, "network": self.network.value, "slow": self.slow.value}
        return {**self.pieces(), "workers": self.workers.value, **place}

    def label(self) -> str:
        """What the drop-downs say, for the legend."""
        told = [choice.label for choice in self.wide.values()]
        told += [counted(self.workers.value, self.who) + (" (simulated)" if self.where.value == "simulated" else "")]
        told += [self.network.label] if self.network.value is not None else []
        told += [f"slow: {self.slow.label}"] if self.slow.value else []
        return " · ".join(told)


def counted(workers: int, who: str = "workers") -> str:
    return f"{workers} {who[:-1] if workers == 1 else who}"


class Panel(Breakable):
    """Of a recipe: its three levels."""

    def __init__(self, menus, workers: int, where: str, slow=None):
        self.when, self.whom, self.briefly = (menu(*offer) for offer in menus[:3])
        wide = {"when to talk": self.when, "with whom": self.whom, "how briefly": self.briefly}
        super().__init__(wide, menus[3], workers, where, slow)

    def others(self, workers: int) -> list[str]:
        return [f"server {rank}" for rank in range(workers, workers + self.whom.value.servers)]

    def pieces(self) -> dict:
        return {"sync": self.when.value, "topology": self.whom.value, "compression": self.briefly.value}


class PortionPanel(Breakable):
    """Of a Sandblaster: how many portions, whether late ones are copied, how many shards."""

    who = "replicas"

    def __init__(self, method, network, workers: int, where: str, slow=None):
        self.method = method
        self.portions, self.backup, self.shards = (menu(*offer) for offer in choices.sandblaster(method))
        wide = {"portions": self.portions, "copies": self.backup, "shards": self.shards}
        super().__init__(wide, network, workers, where, slow)

    def others(self, workers: int) -> list[str]:
        chosen = replace(self.method, shards=self.shards.value)
        return chosen.others(workers + chosen.beside)

    def pieces(self) -> dict:
        return {"portions": self.portions.value, "backup": self.backup.value, "shards": self.shards.value}
