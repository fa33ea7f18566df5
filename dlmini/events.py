"""What happened, as plain records: the only thing dashboards, timelines and recordings ever read.

A program makes an event (`Round(t, loss, nbytes)`) and hands it to `comm.emit`, which stamps rank and time on it.
Times are seconds of the transport's own clock: virtual in the simulator, aligned wall-clock elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from operator import attrgetter

import numpy as np

PHASES = ("compute", "waiting", "communication")


@dataclass(slots=True)
class Phases:
    """Where a rank's time went, in seconds.

    compute        local work
    waiting        inside a receive, while the partner had not sent yet
    communication  the rest of every send and receive
    """

    compute: float = 0.0
    waiting: float = 0.0
    communication: float = 0.0

    def __add__(self, other: Phases) -> Phases:
        return Phases(*(getattr(self, p) + getattr(other, p) for p in PHASES))

    @property
    def synchronisation(self) -> float:
        """What the literature often calls by one name: waiting + communication."""
        return self.waiting + self.communication


@dataclass(frozen=True, slots=True)
class Event:
    rank: int = field(default=-1, kw_only=True)
    at: float = field(default=0.0, kw_only=True)


@dataclass(frozen=True, slots=True)
class Span(Event):
    """One stretch of a rank's time: what a timeline (Gantt chart) draws."""

    phase: str
    label: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Slot(Event):
    """One job of a pipeline (forward, backward, weights) on one micro-batch: what a bubble diagram draws."""

    kind: str
    micro: int
    chunk: int
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Round(Event):
    """A worker ended round `t`: its last loss, the bytes of the packet it said, and where its time went so far."""

    t: int
    loss: float
    nbytes: int = 0
    phases: Phases | None = None  # filled by `comm.emit`, as are
    sent: int = 0  # bytes that its rank has sent so far, and
    messages: int = 0  # in how many messages


@dataclass(frozen=True, slots=True)
class Snapshot(Event):
    """Weights for the parent to evaluate: workers never evaluate themselves.

    part: (number, of how many) where a rank shows only its piece of the vector; pieces follow one another.
    """

    t: int
    weights: np.ndarray
    part: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Measured(Event):
    """The parent tried a snapshot of round `t` on the test set; `at` is when the snapshot was taken."""

    t: int
    loss: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Served(Event):
    """A server took the push that ends round `t` of `worker`: `staleness` steps were made since the worker had read.

    Of a shard of Sandblaster: all portions of evaluation t + 1 are counted, whoever computed them (worker -1).
    """

    worker: int
    t: int
    staleness: int
    phases: Phases | None = None  # these three as in Round
    sent: int = 0
    messages: int = 0


@dataclass(frozen=True, slots=True)
class Portion(Event):
    """Of Sandblaster: what became of a portion in evaluation `number` of round `t`.

    what: handed (to the replica), copied (to one more), counted (of this replica), dropped (another one's counts),
    lost (its replica has died: it waits again).
    """

    t: int
    number: int
    portion: int
    replica: int
    what: str


@dataclass(frozen=True, slots=True)
class Spread(Event):
    """How far apart the workers' weights were after round `t`: the root of the mean squared distance to their mean."""

    t: int
    distance: float


@dataclass(frozen=True, slots=True)
class Checkpoint(Event):
    """All that a rank remembers after round `t`, as named arrays: enough to go on from there."""

    t: int
    memory: dict[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Fault(Event):
    """Something broke, or was mended: `text` is a sentence, `kind` one word.

    crashed, killed, hung: its rank is gone; returned: it is back. unkept: no checkpoints are made any more; restored:
    all ranks have begun again from one.
    """

    kind: str
    text: str

    @property
    def deadly(self) -> bool:
        """Whether its rank is gone."""
        return self.kind in ("crashed", "killed", "hung")

    @property
    def fateful(self) -> bool:
        """Whether its rank is gone, or has come back."""
        return self.deadly or self.kind == "returned"


@dataclass(frozen=True, slots=True)
class Gathering(Event):
    """Not all ranks are there yet: for whom the run waits, a sentence. Told again and again until they are."""

    text: str


@dataclass(frozen=True, slots=True)
class Done(Event):
    """A rank's program returned."""

    text: str = ""


def stamped(event: Event, rank: int, at: float, phases: Phases | None = None, traffic=(0, 0)) -> Event:
    """The event with its place and time; what is written on later is copied, so what was said cannot change."""
    if isinstance(event, Round | Served) and event.phases is None and phases is not None:
        if type(event) in COLUMNS:
            return told(event, rank, at, phases, *traffic)
        messages, sent = traffic
        event = replace(event, phases=replace(phases), sent=sent, messages=messages)
    arrays = {f.name: v.copy() for f in fields(event) if isinstance(v := getattr(event, f.name), np.ndarray)}
    return replace(event, rank=rank, at=at, **arrays)


def told(event: Round | Served, rank: int, at: float, phases: Phases, messages: int, sent: int) -> Round | Served:
    """One that every round brings, filled in. Written out: `replace` takes five times as long."""
    kept = Phases(phases.compute, phases.waiting, phases.communication)
    if type(event) is Round:
        return Round(event.t, event.loss, event.nbytes, kept, sent, messages, rank=rank, at=at)
    return Served(event.worker, event.t, event.staleness, kept, sent, messages, rank=rank, at=at)


PARTS = tuple(f"phases.{name}" for name in PHASES)
COLUMNS = {  # of events that every round brings
    Round: attrgetter("t", "loss", "nbytes", *PARTS, "sent", "messages", "rank", "at"),
    Served: attrgetter("worker", "t", "staleness", *PARTS, "sent", "messages", "rank", "at"),
}
NUMBERS = frozenset((int, float, np.float32, np.float64, np.int64))


def as_row(event: Event) -> tuple | None:
    """A Round or Served as a tuple of numbers, for many to be pickled together in a tenth of the time; else None."""
    if type(event) not in COLUMNS or event.phases is None:
        return None
    row = COLUMNS[type(event)](event)
    return (type(event).__name__, *row) if NUMBERS.issuperset(map(type, row)) else None


def from_row(row: tuple) -> Round | Served:
    """The event that `as_row` made a tuple of."""
    name, a, b, c, compute, waiting, communication, sent, messages, rank, at = row
    kind = Round if name == "Round" else Served
    return kind(a, b, c, Phases(compute, waiting, communication), sent, messages, rank=rank, at=at)


def totals(events: Iterable[Event]) -> dict[int, Phases]:
    """Seconds per phase and rank, summed over all spans."""
    found: dict[int, Phases] = {}
    for event in events:
        if isinstance(event, Span):
            phases = found.setdefault(event.rank, Phases())
            setattr(phases, event.phase, getattr(phases, event.phase) + event.end - event.start)
    return found


def as_dict(event: Event) -> dict:
    """A row for JSON: the event's name and fields, arrays as lists."""
    row = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in asdict(event).items()}
    return {"event": type(event).__name__, **row}


def from_dict(row: dict) -> Event:
    """The event that `as_dict` made a row of."""
    kinds = {kind.__name__: kind for kind in Event.__subclasses__()}
    row = dict(row)
    name = row.pop("event", None)
    if name not in kinds:
        raise ValueError(f"there is no event called {name!r}; known are {', '.join(sorted(kinds))}")
    if row.get("phases"):
        row["phases"] = Phases(**row["phases"])
    return kinds[name](**row)
