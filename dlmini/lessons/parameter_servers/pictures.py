"""The pictures of lesson 05: loads of links, time against the number of servers, quorums, the classroom's star."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ipywidgets
import numpy as np

from dlmini.comm.network import Link, Switch, gigabit
from dlmini.lessons.allreduce.costs import ring_seconds
from dlmini.lessons.data_parallelism.classroom import TABLE
from dlmini.lessons.parameter_servers import costs
from dlmini.lessons.parameter_servers.learning import classroom_ring, classroom_star, quorum_time
from dlmini.lessons.picture_desk import image
from dlmini.show.matrices import bytes_between
from dlmini.show.palette import BLACK, BLUE, CURVES, GREEN, GREY, HEAT, VERMILION, themed
from dlmini.show.paper import sheet
from dlmini.show.stills import WithStill
from dlmini.show.units import BYTES, said, unit


@themed
def link_loads(rounds: Mapping[str, object]):
    """Who sends how much to whom, one square per way; the same colours for all. In the title: the busiest port."""
    figure, axes = sheet(3.9 * len(rounds), 4.4, columns=len(rounds), squeeze=False)
    loads = [bytes_between(results.books) for results in rounds.values()]
    size, name = unit(max(load.max() for load in loads), BYTES)
    for ax, title, load, results in zip(axes[0], rounds, loads, rounds.values(), strict=True):
        image = ax.imshow(load / size, cmap=HEAT, vmin=0, vmax=max(one.max() for one in loads) / size)
        busiest = max(load.sum(axis=0).max(), load.sum(axis=1).max())
        ax.set_title(f"{title}\n{said(results.seconds)}; busiest port {said(busiest, BYTES)}", fontsize="medium")
        ax.set(xlabel="to rank", ylabel="from rank")
        ax.set_xticks(range(0, len(load), 2))
        ax.set_yticks(range(0, len(load), 2))
        ax.grid(visible=False)
    figure.colorbar(image, ax=axes[0, -1], label=name, shrink=0.8)
    return figure


@themed
def server_race(workers: int, nbytes: int, link: Link = gigabit.link, here: int = 0):
    """One round against the number of servers: lines are the closed forms, dots are simulated."""
    figure, ax = sheet(9, 4.6)
    counts = np.arange(1, workers + 1)
    some = sorted({1, *(n for n in (2, 3, 4, 6, 8, 12, 16, 24, 32) if n <= workers), workers})
    for turns, formula, name, colour in (
        (False, costs.in_order_seconds, "everybody begins at server 0", VERMILION),
        (True, costs.in_turns_seconds, "in turns", BLUE),
    ):
        ax.plot(counts, [formula(workers, k, nbytes, link) for k in counts], color=colour, label=name)
        found = [costs.served(workers, k, nbytes, Switch(link), turns).seconds for k in some]
        ax.plot(some, found, "o", color=colour)
    ax.axhline(ring_seconds(workers, nbytes, link), color=BLACK, linestyle="--", label="ring, no server")
    flat = costs.everybody_serves_seconds(workers, nbytes, link)
    ax.axhline(flat, color=GREEN, linestyle=":", label="every worker also serves")
    if here:
        ax.axvline(here, color=GREY, linewidth=1)
    ax.set(xlabel="servers K (further machines)", ylabel="one round, s", ylim=(0, None), title=f"{workers} workers")
    ax.set_xticks(some, [str(k) for k in some])
    ax.minorticks_off()
    figure.legend(loc="outside right upper")
    return figure


@themed
def quorums(workers: int, found: Sequence[float]):
    """Left: when q of N have come. Right: gradients per second that are used."""
    figure, axes = sheet(11, 4, columns=2)
    q = np.arange(1, workers + 1)
    formula = np.array([quorum_time(k, workers) for k in q])
    axes[0].plot(q, formula, color=GREY, label="H_N − H_(N−q)")
    axes[0].plot(q, found, "o", color=BLUE, label="drawn")
    axes[1].plot(q, q / formula, color=GREY)
    axes[1].plot(q, q / np.asarray(found), "o", color=BLUE)
    axes[0].set(xlabel="quorum q", ylabel="a step, in mean compute times")
    axes[1].set(xlabel="quorum q", ylabel="gradients used per compute time", ylim=(0, None))
    axes[0].legend()
    return figure


@themed
def worth_of_a_ring():
    """The classroom's synchronisation against compression: its own fit, its four measurements, a ring's level."""
    figure, ax = sheet(9, 4.4)
    ratios = np.geomspace(1, 300, 200)
    ax.semilogx(ratios, [classroom_star(r) for r in ratios], color=BLUE, label="star, fitted")
    for row, colour in zip(TABLE, CURVES[1:], strict=False):
        ax.semilogx(TABLE[0].mib / row.mib, row.synchronisation, "o", color=colour, label=f"published: {row.name}")
    ax.axhline(classroom_ring(), color=BLACK, linestyle="--", label="ring, float32")
    ax.set(xlabel="compression ratio", ylabel="synchronisation of an epoch, s", ylim=(0, None))
    ticks = (1, 2, 4, 6, 10, 100)
    ax.set_xticks(ticks, [str(t) for t in ticks])
    ax.minorticks_off()
    figure.legend(loc="outside right upper")
    return figure


class ServerBench(WithStill, ipywidgets.VBox):
    """Sliders and two pictures: time against servers, and the load of every link."""

    def __init__(self, **start):
        self.choices = {
            "workers": ipywidgets.IntSlider(8, 2, 24, description="workers N"),
            "servers": ipywidgets.IntSlider(1, 1, 24, description="servers K"),
            "megabytes": ipywidgets.FloatLogSlider(8.74, min=-3, max=3, step=0.05, description="vector, MB"),
            "latency": ipywidgets.FloatLogSlider(100, min=0, max=5, step=0.1, description="latency, µs"),
        }
        for name, widget in self.choices.items():
            widget.style.description_width, widget.continuous_update = "initial", False
            widget.value = start.get(name, widget.value)
            widget.observe(lambda _: self.draw(), "value")
        self.race, self.loads = image(), image()
        self.picture = self.race
        box = ipywidgets.Box(list(self.choices.values()), layout=ipywidgets.Layout(flex_flow="row wrap"))
        super().__init__([box, self.race, self.loads])
        self.draw()

    def draw(self) -> None:
        n, nbytes = self.choices["workers"].value, round(1e6 * self.choices["megabytes"].value)
        k = min(self.choices["servers"].value, n)
        link = Link(self.choices["latency"].value / 1e6, gigabit.link.bandwidth)
        self.figure = server_race(n, nbytes, link, here=k)
        shown = link_loads({f"{n} workers, {k} servers": costs.served(n, k, nbytes, Switch(link)),
                            "every worker also serves": costs.served_by_all(n, nbytes, Switch(link))})  # fmt: skip
        self.loads.show(shown)
        self.race.show(self.figure)


def server_bench(**start) -> ServerBench:
    """The sliders, beginning with what is given: server_bench(workers=8, servers=4)."""
    return ServerBench(**start)
