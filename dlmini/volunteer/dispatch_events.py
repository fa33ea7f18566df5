"""What happens to a dispatcher, and what it orders; as lines of a journal, and back."""

from __future__ import annotations

from typing import NamedTuple

from dlmini.volunteer.unit import Terms


class Join(NamedTuple):
    at: float
    host: int
    kind: str = ""


class Add(NamedTuple):
    """`count` new units, numbered on."""

    at: float
    count: int
    terms: Terms


class Ask(NamedTuple):
    at: float
    host: int


class Report(NamedTuple):
    at: float
    host: int
    unit: int
    copy: int
    ok: bool


class Judge(NamedTuple):
    at: float
    unit: int
    canonical: int
    valid: tuple[int, ...] = ()
    invalid: tuple[int, ...] = ()


class Tick(NamedTuple):
    at: float


EVENTS = {kind.__name__: kind for kind in (Join, Add, Ask, Report, Judge, Tick)}


class Send(NamedTuple):
    host: int
    unit: int
    copy: int
    deadline: float


class Took(NamedTuple):
    unit: int
    copy: int


class Missed(NamedTuple):
    host: int
    unit: int
    copy: int


class Refuse(NamedTuple):
    host: int
    why: str


class Noted(NamedTuple):
    what: str


def line(event) -> list:
    """An event as plain values, for a journal."""
    values = [value.plain() if isinstance(value, Terms) else value for value in event]
    return [type(event).__name__, *(list(v) if isinstance(v, tuple) else v for v in values)]


def event_of(line: list):
    """The event of a journal's line."""
    kind, *values = line
    inside = Terms if kind == "Add" else lambda *parts: parts
    return EVENTS[kind](*(inside(*value) if isinstance(value, list) else value for value in values))
