"""`launch`: the low-level verb. P copies of a plain function, one per rank, on any transport."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Protocol

from dlmini.checks import piece, refuse, shown
from dlmini.comm.control import Control
from dlmini.comm.ledger import Books, Entry
from dlmini.events import Event, Phases


@dataclass
class Results(Sequence):
    """What the ranks returned, by rank (a sequence), and the books of the run; its events, unless somebody listened."""

    values: list
    entries: list[Entry] = field(default_factory=list, repr=False)
    phases: list[Phases] = field(default_factory=list, repr=False)
    seconds: float = 0.0
    events: list[Event] = field(default_factory=list, repr=False)

    @property
    def books(self) -> Books:
        """Messages and bytes, per pair and per tag."""
        return Books(self.entries)

    def __getitem__(self, rank):
        return self.values[rank]

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other) -> bool:
        return self.values == (other.values if isinstance(other, Results) else other)

    __hash__ = None


class Transport(Protocol):
    """Where ranks live: Simulated, Processes, Mpi."""

    size: int

    def run(self, program: Callable, args: tuple = (), listen: Callable[[Event], None] | None = None) -> Results:
        """program(comm, *args) on every rank. `listen` gets each event as it comes, and then nobody keeps it; without
        it the Results have them all.

        One whose ranks obey orders takes a `control` too. One whose time stands still while `listen` works has an
        attribute `virtual`, which is true.
        """
        ...


def launch(
    program: Callable,
    on: Transport,
    args: tuple = (),
    listen: Callable[[Event], None] | None = None,
    control: Control | None = None,
) -> Results:
    """program(comm, *args) on every rank of `on`; results by rank.

    results = launch(program, on=Simulated(4, seed=7), args=(x,))
    listen: is called with each event as it comes, and keeps what it wants; without it all are in results.events.
    control: orders to the ranks while they run (control.py); on Simulated and Processes.
    """
    check_program(program, args), check_transport(on)
    if listen is not None and not callable(listen):
        refuse(TypeError, "listen", listen, "a function that is called with each event")
    if control is None:
        return on.run(program, tuple(args), listen)
    piece(control, "control", ("size", "pause"), f"a Control({on.size})")
    if control.size != on.size:
        raise ValueError(f"a control of {control.size} ranks cannot give orders to {on.size}; use Control({on.size})")
    if "control" not in signature(on.run).parameters:
        raise ValueError(f"the ranks of {on!r} obey no control; use Simulated or Processes")
    return on.run(program, tuple(args), listen, control)


def check_program(program, args) -> None:
    if not callable(program):
        raise TypeError(f"program is {shown(program)}; it must be a function program(comm, ...)")
    if not isinstance(args, list | tuple):
        raise TypeError(f"args is {shown(args)}; it must be a tuple of what follows comm: args=(x,), comma and all")


def check_transport(on):
    return piece(on, "on", ("run", "size"), "a transport: Simulated(n), Processes(n) or Mpi(n)")
