"""One run, perhaps several launches: what was spent before is added to what the next one tells, and time goes on."""

from __future__ import annotations

import time
from dataclasses import replace

from dlmini.events import Event, Phases, Round, Served, Span


class Attempts:
    """`place` is where the next launch takes place, `left` how many more there may be.

    before    seconds of the launches that failed;   latest: the last time that this one has told of
    spent     rank -> (phases, bytes, messages) of the launches that failed, as far as they were told
    """

    def __init__(self, place, left: int):
        self.place, self.left, self.before, self.latest = place, left, 0.0, 0.0
        self.spent: dict[int, tuple[Phases, int, int]] = {}
        self._last: dict[int, Round | Served] = {}
        self._began = time.perf_counter()

    def dated(self, event: Event) -> Event:
        """What a launch tells, as the run's: later by what came before it, and with what was spent there."""
        self.latest = max(self.latest, event.at)
        counts = isinstance(event, Round | Served) and event.phases is not None
        if counts:
            self._last[event.rank] = event
        if not self.before:
            return event
        changes = {"at": event.at + self.before}
        if isinstance(event, Span):
            changes |= {"start": event.start + self.before, "end": event.end + self.before}
        if counts and event.rank in self.spent:
            phases, sent, messages = self.spent[event.rank]
            changes |= {"phases": phases + event.phases, "sent": sent + event.sent}
            changes["messages"] = messages + event.messages
        return replace(event, **changes)

    def failed(self) -> None:
        """The launch has ended in vain: the next one begins where it stopped, on machines as they are then."""
        virtual = getattr(self.place, "virtual", False)
        seconds = self.latest if virtual else time.perf_counter() - self._began
        for rank, event in self._last.items():
            phases, sent, messages = self.spent.get(rank, (Phases(), 0, 0))
            self.spent[rank] = phases + event.phases, sent + event.sent, messages + event.messages
        self.place = self.place.after(seconds) if virtual else self.place
        self.before, self.latest, self.left = self.before + seconds, 0.0, self.left - 1
        self._last, self._began = {}, time.perf_counter()

    def total(self, seconds: float, nbytes: int, messages: int, phases: list[Phases]) -> tuple:
        """The facts of the last launch, and what was told of those before."""
        known = self.spent.values()
        both = [self.spent[rank][0] + own if rank in self.spent else own for rank, own in enumerate(phases)]
        nbytes, messages = nbytes + sum(row[1] for row in known), messages + sum(row[2] for row in known)
        return seconds + self.before, nbytes, messages, both
