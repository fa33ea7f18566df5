"""`Simulated`: a transport in virtual time; and one run of it, which can be stepped through."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

from dlmini.checks import settle, truth, whole
from dlmini.comm.channels import name_of
from dlmini.comm.control import Control
from dlmini.comm.launch import Results
from dlmini.comm.network import Network
from dlmini.events import Event
from dlmini.sim.cluster import Cluster
from dlmini.sim.controlled import ControlledEngine, CutTicket, Obedience
from dlmini.sim.engine import Engine
from dlmini.sim.lifecycle import Hub, Lifecycle
from dlmini.sim.posted import Played
from dlmini.sim.pricing.meeting import Ticket
from dlmini.sim.source_lines import place


class Record(NamedTuple):
    """A line of the message log."""

    sent: float
    here: float
    source: int
    dest: int
    channel: int
    nbytes: int
    where: str

    def __str__(self) -> str:
        what = f"{self.source} --> {self.dest}  {name_of(self.channel)}  {self.nbytes} bytes"
        return f"{self.sent:.9f} s ... {self.here:.9f} s  {what}   {self.where}"


def records(log: list[tuple] | None) -> list[Record]:
    """The engine's log, readable."""
    return [Record(sent, here, *ends, nbytes, place(*at)) for sent, here, ends, nbytes, *at in log or ()]


@dataclass(eq=False)
class SimResults(Results):
    """Results in virtual seconds. `inexact`: how often priced collectives and other messages may have met at a port."""

    inexact: int = 0
    raw_log: list[tuple] | None = field(default=None, repr=False)

    @cached_property
    def log(self) -> list[Record]:
        """Every message, in the order of coming."""
        return records(self.raw_log)


@dataclass(frozen=True)
class Simulated:
    """`size` ranks in virtual time on a cluster, or on a network of ordinary machines.

    The same seed gives the same bits and the same times; another seed breaks ties in another way, and so explores
    another legal order. log=True keeps every message; spans=True emits a Span for every stretch of a rank's time.
    """

    size: int
    cluster: Cluster | Network | None = None
    seed: int = 0
    log: bool = False
    spans: bool = False
    virtual: ClassVar[bool] = True

    def __post_init__(self):
        settle(self, size=whole(self.size, "size", 1, hint="ranks"), seed=whole(self.seed, "seed", 0))
        settle(self, log=truth(self.log, "log"), spans=truth(self.spans, "spans"))
        Cluster.of(self.cluster)  # says so if it is none

    def after(self, seconds: float) -> Simulated:
        """The same place, so many seconds later."""
        return replace(self, cluster=Cluster.of(self.cluster).after(seconds))

    def run(
        self, program, args: tuple = (), listen=None, control: Control | None = None, may_die=(), may_return=()
    ) -> SimResults:
        return self.open(program, args, listen, control, may_die, may_return).run()

    def open(
        self, program, args: tuple = (), listen=None, control: Control | None = None, may_die=(), may_return=()
    ) -> Simulation:
        """A run that has not begun: `step()` it, or `run()` it to its end."""
        return Simulation(self, program, args, listen, control, may_die, may_return)


MOST = 1_000_000  # ranks; each is a program with a stack of its own: some tens of KB, and more while messages wait


def check_ranks(size: int) -> None:
    if size > MOST:
        raise ValueError(
            f"{size:,} ranks: each simulated rank is a program of its own and takes memory, so at most {MOST:,} can be "
            "simulated; formulas have no such limit: price(...) of a collective, dlmini.plan.forecast(...) of a step"
        )


class Simulation:
    """One run. Between steps look at `time`, `engine.ranks`, `log`, and, where nobody listens, `events`."""

    def __init__(
        self, on: Simulated, program, args=(), listen=None, control: Control | None = None, may_die=(), may_return=()
    ):
        check_ranks(on.size)
        self.on, self.listen, self.control, self.events = on, listen, control, []
        world = Cluster.of(on.cluster), on.size, on.seed, on.log
        self.engine = Engine(*world) if control is None else ControlledEngine(control, *world)
        self.engine.tell, self.engine.played = self._tell, Played
        self.engine.ticket = Ticket if control is None else CutTicket
        self.lifecycle = Lifecycle(self.engine, program, args, may_die=may_die, may_return=may_return)
        self.obedience = control and Obedience(control, self.engine)
        self.hub = Hub(self.engine, self.lifecycle)
        for rank in self.engine.ranks:
            rank.spans = on.spans

    def _tell(self, event: Event) -> None:
        (self.listen or self.events.append)(event)
        if self.obedience is not None:
            self.obedience.heed(event)

    @property
    def time(self) -> float:
        """Virtual seconds of the world's clock; ranks may be ahead of it."""
        return self.engine.time

    def step(self) -> bool:
        """Let one event happen: a message reaches a port, or a rank goes on until it waits. False at the end."""
        return self.hub.step()

    def run(self) -> SimResults:
        """To the end."""
        try:
            self.hub.run()
        finally:
            if self.control is not None:
                self.control.unbind()
        return self.results()

    def close(self) -> None:
        """Give up a run that has not ended."""
        self.hub.close()

    @property
    def log(self) -> list[Record]:
        """Every message that has come so far, in the order of coming."""
        return records(self.engine.log)

    def results(self) -> SimResults:
        ranks = self.engine.ranks
        entries = [entry for rank in ranks for entry in rank.ledger.entries()]
        seconds, phases = max(rank.clock for rank in ranks), [rank.phases for rank in ranks]
        return SimResults(
            self.lifecycle.results, entries, phases, seconds, self.events, self.engine.inexact, self.engine.log
        )
