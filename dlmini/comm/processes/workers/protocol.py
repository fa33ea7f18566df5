"""What parent and workers say to each other: a task for each rank, chat while it runs, an answer at its end."""

from __future__ import annotations

from typing import NamedTuple

from dlmini.comm.ledger import Entry
from dlmini.events import Phases

READY = "ready"


class StartOrder(NamedTuple):
    """What a worker is told when it starts."""

    rank: int
    size: int
    segment: str
    nbytes: int
    scale: int


class Task(NamedTuple):
    run: int
    epoch: float  # perf_counter when the run's clock shows zero
    cores: int
    spans: bool
    path: list[str]
    folder: str
    program: bytes  # pickled (program, args, network)


class Said(NamedTuple):
    """Chat: a text for stdout or stderr; or events, pickled, or as rows of numbers (events.py)."""

    stream: str
    text: str | list[bytes | tuple]


class Returned(NamedTuple):
    """The program has returned. `unread`: how many messages lie unread, by source and channel."""

    value: bytes  # pickled
    entries: list[Entry]
    phases: Phases
    unread: dict[tuple[int, int], int]


class Raised(NamedTuple):
    error: bytes  # pickled; empty if it cannot travel
    text: str
    trace: str


class Exited(NamedTuple):
    """The program has called sys.exit."""

    code: str
    trace: str


class Stopped(NamedTuple):
    """Given up because the parent said so: what it was doing, on whom it waited, where it was."""

    what: str
    on: tuple[int, ...]
    where: str


class Died(NamedTuple):
    """What the parent notes when no answer will come: the process has ended."""

    code: int | None
    words: str  # what its fault handler wrote
    hung: bool = False  # it was ended because it was stopped


class Lost(NamedTuple):
    """What the parent tells who listens: a rank has died (`code` as in Died), and the others go on."""

    rank: int
    code: int | None
    at: float
    hung: bool = False


class Silent(NamedTuple):
    """What the parent notes when no answer has come in time."""

    words: str  # where Python was, by its fault handler
    stopped: bool = False
