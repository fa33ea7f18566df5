"""A recorded run, played again at any speed: it looks to a dashboard like a run that goes on now."""

from __future__ import annotations

import json
import time
from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path

from dlmini.events import Event, Fault, Round, from_dict
from dlmini.show.board import Board

AT_ONCE = float("inf")


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


def replayed(recording: Sequence[Event], speed: float) -> tuple[Replay, Board]:
    """A replay that has begun, and an empty board for it."""
    rounds = [event for event in recording if isinstance(event, Round)]
    ranks, workers = (1 + max(event.rank for event in events) for events in (recording, rounds))
    return Replay(recording, speed), Board(ranks, workers, 1 + max(event.t for event in rounds))


class Replay:
    """`events` so far, as of a run; `speed` seconds of the recording pass in a second, and may change at any time."""

    outcome, real_time = None, False

    def __init__(self, recording: Sequence[Event], speed: float = 1.0, clock=time.monotonic):
        self.recording, self.clock = recording, clock
        self.times = [event.at for event in recording]
        self.at, self._speed, self._looked = self.times[0], speed, clock()
        self.paused = self.stopped = False

    @property
    def speed(self) -> float:
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        if not speed > 0:
            raise ValueError(f"a replay cannot run at speed {speed}; give a number above 0, such as 4")
        self._go_on()
        self._speed = speed

    @property
    def events(self) -> Sequence[Event]:
        """What has happened by now."""
        self._go_on()
        return self.recording[: bisect_right(self.times, self.at)]

    @property
    def over(self) -> bool:
        self._go_on()
        return self.stopped or self.at >= self.times[-1]

    def pause(self) -> None:
        self._go_on()
        self.paused = True

    def resume(self) -> None:
        self._go_on()
        self.paused = False

    def step(self) -> None:
        """To the end of the next round, of whoever ends one first."""
        self._go_on()
        later = self.recording[bisect_right(self.times, self.at) :]
        self.at = next((event.at for event in later if isinstance(event, Round)), self.times[-1])

    def stop(self) -> None:
        self.stopped = True

    def marks(self) -> dict[str, str]:
        return {}

    def trouble(self) -> str:
        return ""

    def verdict(self) -> tuple[str, str]:
        faults = [event.text for event in self.events if isinstance(event, Fault)]
        if faults:
            return "bad", f"The recording ends: {faults[-1]}."
        return "quiet", "Stopped." if self.at < self.times[-1] else "The recording has ended."

    def _go_on(self) -> None:
        now = self.clock()
        if not (self.paused or self.stopped):
            passed = now - self._looked
            self.at = self.times[-1] if self._speed == AT_ONCE else min(self.times[-1], self.at + passed * self._speed)
        self._looked = now
