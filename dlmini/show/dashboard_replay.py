"""The dashboard of a recording: which of its runs, and how fast."""

from __future__ import annotations

from collections.abc import Sequence

from dlmini.show.board import Board
from dlmini.show.dashboard_choices import offered
from dlmini.show.dashboard_widgets import Buttons, field, menu, row
from dlmini.show.recordings import Recorded
from dlmini.show.replay import AT_ONCE, Replay, replayed

SPEEDS = {"¼ ×": 0.25, "1 ×": 1.0, "4 ×": 4.0, "16 ×": 16.0, "64 ×": 64.0, "at once": AT_ONCE}
BEARABLE = 30.0  # seconds that the longest run may take, unless somebody says how fast


class Shelf:
    """In the place of a plan: what begins is one of the runs that were."""

    invitation, doing = "Start replays the recording.", "Replaying"

    def begun(self, run: Recorded, speed: float) -> tuple[Replay, Board, list[str]]:
        return replayed(run, speed)

    def warm(self, **chosen) -> None:
        """Nothing to prepare."""


class ReplayPanel(Buttons):
    """A drop-down of the runs; when one has come to its end, the next one is chosen, so that Start draws it over."""

    def __init__(self, runs: Sequence[Recorded], speed: float | None = None):
        super().__init__()
        names = [f"{i}. {name}" for i, name in enumerate(told_apart([run.label for run in runs]), 1)]
        self.run = menu(dict(zip(names, runs, strict=True)), names[0])
        self.speed = menu(*offered(SPEEDS, bearable(runs) if speed is None else speed))
        choices = [field("run", self.run)] if len(runs) > 1 else []
        self.rows = [row(*choices, field("speed of the replay", self.speed, "narrow")), self.orders]

    def serve(self, desk) -> None:
        super().serve(desk)
        self.speed.observe(lambda change: desk.order(lambda run: setattr(run, "speed", change.new)), "value")

    def turn_over(self) -> None:
        self.run.index = min(self.run.index + 1, len(self.run.options) - 1)

    def chosen(self) -> dict:
        return {"run": self.run.value, "speed": self.speed.value}

    def label(self) -> str:
        return self.run.value.label


def told_apart(labels: Sequence[str]) -> list[str]:
    """Of each label only what not all of them say: a drop-down is narrow."""
    parts = [label.split(" · ") for label in labels]
    common = set(parts[0]).intersection(*parts[1:])
    return [" · ".join(p for p in mine if p not in common) or " · ".join(mine) for mine in parts]


def bearable(runs: Sequence[Recorded]) -> float:
    """One speed for all runs, so that a slow one looks slow: the first at which nobody falls asleep."""
    longest = max(run.seconds for run in runs)
    return next(speed for speed in SPEEDS.values() if longest <= BEARABLE * speed)
