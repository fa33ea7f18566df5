"""`launch`: the low-level verb. P copies of a plain function, one per rank, on any transport."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from inspect import signature
from typing import Protocol

from dlmini.checks import piece, refuse, shown, whole
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
    """Where ranks live: Simulated, Processes, Mpi, Classroom."""

    size: int

    def run(self, program: Callable, args: tuple = (), listen: Callable[[Event], None] | None = None) -> Results:
        """program(comm, *args) on every rank. `listen` gets each event as it comes, and then nobody keeps it; without
        it the Results have them all.

        One whose ranks obey orders takes a `control` too; one whose ranks can go on without some of them, `may_die`.
        One whose time stands still while `listen` works has an attribute `virtual`, which is true.
        """
        ...


def launch(
    program: Callable,
    on: Transport,
    args: tuple = (),
    listen: Callable[[Event], None] | None = None,
    control: Control | None = None,
    may_die: Iterable[int] = (),
    may_return: Iterable[int] = (),
) -> Results:
    """program(comm, *args) on every rank of `on`; results by rank.

    results = launch(program, on=Simulated(4, seed=7), args=(x,))
    listen: is called with each event as it comes, and keeps what it wants; without it all are in results.events.
    control: orders to the ranks while they run (control.py); everywhere but on Mpi.
    may_die: ranks whose death does not end the run, as long as one of them lives; everywhere but on Mpi. The
    others are told (`comm.gone`), who listens gets a Fault, and the result of a dead rank is None.
    may_return: those of them that the others take back, if the cluster says that they return (Simulated alone lets
    anybody return). Such a rank's program begins anew, with comm.life = 1, and it is no longer in comm.gone().
    """
    check_program(program, args), check_transport(on)
    if listen is not None and not callable(listen):
        refuse(TypeError, "listen", listen, "a function that is called with each event")
    options = {}
    if control is not None:
        check_control(control, on)
        options["control"] = control
    if mortals := mortal_ranks(may_die):
        check_mortals(mortals, on)
        options["may_die"] = mortals
    returning = mortal_ranks(may_return, "may_return")
    if not returning <= mortals:
        raise ValueError(f"may_return is {shown(may_return)}, but only ranks that may_die names too can come back")
    if returning and takes(on, "may_return"):
        options["may_return"] = returning
    return on.run(program, tuple(args), listen, **options)


def takes(on: Transport, option: str) -> bool:
    """Whether runs of this transport know a `control`, or `may_die`."""
    return option in signature(on.run).parameters


def check_mortals(ranks: frozenset, on: Transport) -> None:
    for rank in ranks:
        whole(rank, "a rank in may_die", 0, on.size - 1)
    if not takes(on, "may_die"):
        raise ValueError(f"the ranks of {on!r} end with the first that dies; use Simulated, Processes or Classroom")


def check_control(control: Control, on: Transport) -> None:
    piece(control, "control", ("size", "pause"), f"a Control({on.size})")
    if control.size != on.size:
        raise ValueError(f"a control of {control.size} ranks cannot give orders to {on.size}; use Control({on.size})")
    if not takes(on, "control"):
        raise ValueError(f"the ranks of {on!r} obey no control; use Simulated, Processes or Classroom")


def mortal_ranks(ranks, name: str = "may_die") -> frozenset[int]:
    """Ranks as a set; anything else is refused."""
    if not isinstance(ranks, list | tuple | set | frozenset | range):
        refuse(TypeError, name, ranks, "a list of ranks, such as range(3)")
    try:
        return frozenset(ranks)
    except TypeError:
        refuse(TypeError, name, ranks, "a list of ranks, such as range(3)")


def check_program(program, args) -> None:
    if not callable(program):
        raise TypeError(f"program is {shown(program)}; it must be a function program(comm, ...)")
    if not isinstance(args, list | tuple):
        raise TypeError(f"args is {shown(args)}; it must be a tuple of what follows comm: args=(x,), comma and all")


def check_transport(on):
    return piece(on, "on", ("run", "size"), "a transport: Simulated(n), Processes(n), Mpi(n) or Classroom(n, port)")
