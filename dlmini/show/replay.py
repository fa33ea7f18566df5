"""A recorded run, played again at any speed: it looks to a dashboard like a run that goes on now."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence

from dlmini.events import Event, Fault, Round
from dlmini.show.board import Board
from dlmini.show.recordings import Recorded

AT_ONCE = float("inf")


def replayed(run: Recorded, speed: float) -> tuple[Replay, Board, list[str]]:
    """A replay that has begun, an empty board for it, and what may disappoint, as sentences."""
    return Replay(run.events, speed, marks=run.marks, end=run.end), run.board(), list(run.doubts)


class Replay:
    """`events` so far, as of a run; `speed` seconds of the recording pass in a second, and may change at any time."""

    outcome, real_time = None, False

    def __init__(self, recording: Sequence[Event], speed: float = 1.0, clock=time.monotonic, marks=(), end=None):
        self.recording, self.clock, self._marks, self._end = recording, clock, marks, end
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

    def since(self, place: int) -> tuple[Sequence[Event], int]:
        """Events from a place on, and the next place."""
        events = self.events
        return events[place:], len(events)

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
        """What had been done to whom by then."""
        return next((words for at, words in reversed(self._marks) if at <= self.at), {})

    def trouble(self) -> str:
        return ""

    def verdict(self) -> tuple[str, str]:
        """How it ended, as it was said then."""
        self._go_on()
        if self.at < self.times[-1]:
            return "quiet", "Stopped."
        if self._end is not None:
            return self._end[0], f"As recorded: {self._end[1]}"
        if isinstance(self.recording[-1], Fault):  # others were survived
            return "bad", f"The recording ends: {self.recording[-1].text}."
        return "quiet", "The recording has ended."

    def _go_on(self) -> None:
        now = self.clock()
        if not (self.paused or self.stopped):
            passed = now - self._looked
            self.at = self.times[-1] if self._speed == AT_ONCE else min(self.times[-1], self.at + passed * self._speed)
        self._looked = now
