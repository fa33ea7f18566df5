"""What a run came to, and its plain files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dlmini.checks import path
from dlmini.events import Event, Fault, Measured, Phases, Snapshot, as_dict, from_dict
from dlmini.files import DAMAGED, why, write_folder
from dlmini.recipe import Recipe
from dlmini.recipe_text import describe, read

VERSION = 2  # of summary.json; 1 had none, and a recipe as its repr
PLAIN = ("seconds", "nbytes", "messages", "stopped")


@dataclass
class Outcome:
    """`seconds` and `phases` are in the transport's own time, virtual or real."""

    recipe: Recipe
    weights: np.ndarray
    measured: list[Measured]
    events: list[Event] = field(repr=False)
    seconds: float = float("nan")  # not known of a run that was stopped
    nbytes: int = 0
    messages: int = 0
    phases: list[Phases] = field(default_factory=list, repr=False)
    stopped: str = ""  # why it ended early; empty if it did not

    @property
    def accuracy(self) -> float:
        """On the test set, at the last look."""
        return self.measured[-1].accuracy if self.measured else float("nan")

    @property
    def gone(self) -> list[int]:
        """Ranks that died on the way, and did not return."""
        last = {event.rank: event for event in self.events if isinstance(event, Fault) and event.fateful}
        return sorted(rank for rank, event in last.items() if event.deadly)

    def save(self, folder) -> Path:
        """events.jsonl, summary.json and weights.npy in `folder`, which must not exist yet: all three, or nothing."""
        rows = [json.dumps(as_dict(e)) + "\n" for e in self.events if not isinstance(e, Snapshot)]
        events = "".join(rows).encode()
        summary = json.dumps(self.summary() | {"events": len(rows)}, indent=1).encode()
        content = {
            "events.jsonl": lambda stream: stream.write(events),
            "summary.json": lambda stream: stream.write(summary),
            "weights.npy": lambda stream: np.save(stream, self.weights),
        }
        return write_folder(folder, content)

    def summary(self) -> dict:
        known = {"version": VERSION, "recipe": describe(self.recipe), "accuracy": self.accuracy}
        known |= {name: getattr(self, name) for name in PLAIN}
        return known | {"phases": [[p.compute, p.waiting, p.communication] for p in self.phases]}

    @classmethod
    def load(cls, folder) -> Outcome:
        """What `save` has written. Functions in the recipe are there by name only: files hold no code."""
        folder = path(folder, "folder", "a folder that a run was saved to")
        if not (folder / "summary.json").is_file():
            raise FileNotFoundError(f"{folder} holds no summary.json; give a folder that a run was saved to")
        known = loaded(folder / "summary.json", facts)
        events = loaded(folder / "events.jsonl", lambda file: rows(file, known.pop("events")))
        measured = [event for event in events if isinstance(event, Measured)]
        weights = loaded(folder / "weights.npy", lambda file: np.load(file, allow_pickle=False))
        return cls(weights=weights, measured=measured, events=events, **known)


def loaded(file: Path, reader):
    """What the reader makes of a file, or one sentence."""
    try:
        return reader(file)
    except DAMAGED as error:
        raise ValueError(f"{file} is damaged, or no file of a saved run ({why(error)}); copy it again") from error


def facts(file: Path) -> dict:
    """What summary.json says, by the names of an outcome's fields."""
    summary = json.loads(file.read_text(encoding="utf-8"))
    if summary.get("version", 1) > VERSION:
        raise ValueError(f"it has version {summary['version']}, this dlmini reads {VERSION}: update dlmini")
    phases = [Phases(*numbers) for numbers in summary["phases"]]
    known = {name: summary[name] for name in PLAIN} | {"events": summary.get("events")}
    return known | {"recipe": read(summary["recipe"]), "phases": phases}


def rows(file: Path, count: int | None) -> list[Event]:
    events = [from_dict(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    if count not in (None, len(events)):
        raise ValueError(f"it holds {len(events)} of {count} events")
    return events
