"""What a run came to, and its plain files."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from dlmini.events import Event, Measured, Phases, Snapshot, as_dict, from_dict
from dlmini.files import write_folder
from dlmini.recipe import Recipe
from dlmini.written import read

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

    def save(self, folder) -> Path:
        """events.jsonl, summary.json and weights.npy in `folder`, which must not exist yet: all three, or nothing."""
        rows = (as_dict(e) for e in self.events if not isinstance(e, Snapshot))
        events = "".join(json.dumps(row) + "\n" for row in rows).encode()
        summary = json.dumps(self.summary(), indent=1).encode()
        content = {
            "events.jsonl": lambda stream: stream.write(events),
            "summary.json": lambda stream: stream.write(summary),
            "weights.npy": lambda stream: np.save(stream, self.weights),
        }
        return write_folder(folder, content)

    def summary(self) -> dict:
        known = {"recipe": repr(self.recipe), "accuracy": self.accuracy}
        known |= {name: getattr(self, name) for name in PLAIN}
        return known | {"phases": [[p.compute, p.waiting, p.communication] for p in self.phases]}

    @classmethod
    def load(cls, folder) -> Outcome:
        """What `save` has written."""
        folder = Path(folder)
        if not (folder / "summary.json").is_file():
            raise FileNotFoundError(f"{folder} holds no summary.json; give a folder that a run was saved to")
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        lines = (folder / "events.jsonl").read_text(encoding="utf-8").splitlines()
        events = [from_dict(json.loads(line)) for line in lines]
        measured = [event for event in events if isinstance(event, Measured)]
        weights = np.load(folder / "weights.npy", allow_pickle=False)
        phases = [Phases(*numbers) for numbers in summary["phases"]]
        whole = cls(read(summary["recipe"]), weights, measured, events, phases=phases)
        return replace(whole, **{name: summary[name] for name in PLAIN})
