"""A run that was, as a dashboard needs it to show it again; and the events of runs that somebody saved."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dlmini.events import Event, Portion, Round, from_dict
from dlmini.show.board import Board


@dataclass(frozen=True)
class Recorded:
    """One run: its line in the legend, its events by time, and what the dashboard said beside them.

    marks   (when, {rank: word}): what was done to whom, such as {"1": "killed"}, from then on
    doubts  sentences: what may disappoint
    end     how it ended: (good, quiet or bad; a sentence)
    facts   what its board showed at the end, before anything was thinned
    """

    label: str
    events: Sequence[Event]
    marks: Sequence[tuple[float, dict[str, str]]] = ()
    doubts: Sequence[str] = ()
    end: tuple[str, str] | None = None
    facts: dict = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long it takes to replay it at speed 1."""
        return self.events[-1].at - self.events[0].at

    def board(self) -> Board:
        """An empty one for it. A run that broke off has fewer rounds than were planned: the facts know."""
        if facts := self.facts:
            named = facts.get("others", ()), facts.get("teller")
            return Board(len(facts["phases"]), facts["workers"], facts["rounds"], *named)
        rounds = [event for event in self.events if isinstance(event, Round)]
        teller = next((event.rank for event in self.events if isinstance(event, Portion)), None)  # the coordinator
        own = [event for event in rounds if event.rank != teller]
        ranks, workers = (1 + max(event.rank for event in events) for events in (self.events, own))
        return Board(ranks, workers, 1 + max(event.t for event in rounds), teller=teller)


def recorded(source) -> list[Event]:
    """The events of a folder that `Outcome.save` made, of its events.jsonl, of an outcome, or of a list, by time."""
    if isinstance(source, str | Path):
        source = read(Path(source))
    events = list(getattr(source, "events", source))
    if not any(isinstance(event, Round) for event in events):
        raise ValueError(
            f"nothing to replay: among {len(events)} events there is no Round; record a run by save(folder)"
        )
    return sorted(events, key=lambda event: event.at)


def read(path: Path) -> list[Event]:
    file = path / "events.jsonl" if path.is_dir() else path
    if not file.exists():
        raise FileNotFoundError(f"no recording at {path}: there is no {file.name}; run.result().save(folder) makes one")
    return [from_dict(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
