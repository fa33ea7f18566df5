"""What a run remembers of its events: all of a short run; of a long one what a picture needs, in bounded memory."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from operator import itemgetter

from dlmini.events import Event, Portion, Round, Served, Slot, Span

FREQUENT = (Round, Served, Slot, Span, Portion)  # those that every round brings
FLEETING = (Slot, Span, Portion)  # of these the old ones go
PLACES = 2  # of a look: how far apart the workers were, and what was measured
serial = itemgetter(0)


class History:
    """Events in the order of their coming, whoever asks and however late. About `room` of the frequent ones are kept.

    When there are more, the newest half stays whole. Of the older ones every k-th round stays, the same of all ranks, k
    as small as will do; older Spans, Slots and Portions go. What stays is as it was told, and since Round and Served
    say what was spent and sent *so far*, totals stay exact. All other events stay: there is one for each look, fault
    and end.

    What comes of a look is known later than what is told after it: so a place is kept for it, and nobody reads beyond a
    place that is not filled. A reader that keeps up (within half the room) sees every event once.
    """

    def __init__(self, room: int):
        self.room, self.every, self.over = max(2, room), 1, False
        self._rows: list[tuple[int, Event]] = []
        self._count = self._frequent = 0  # places so far; frequent events that are kept
        self._open: deque[int] = deque()
        self._change = threading.Condition()

    # ---- writing ----

    def add(self, event: Event) -> None:
        with self._change:
            if self.over:
                return
            self._rows.append((self._count, event))
            self._count += 1
            self._frequent += isinstance(event, FREQUENT)
            if self._frequent > self.room:
                self._thin()
            self._change.notify_all()

    def reserve(self) -> int:
        """A place for what will be known of a look."""
        with self._change:
            self._open.append(self._count)
            self._count += PLACES
            return self._count - PLACES

    def fill(self, place: int, events: Sequence[Event] = (), last: bool = False) -> None:
        """What came of it. The last: the run ends here, and what was told meanwhile is as if it had not been."""
        with self._change:
            if place not in self._open:  # all is over
                return
            at = bisect_left(self._rows, place, key=serial)
            self._rows[at:at] = [(place + i, event) for i, event in enumerate(events)]
            self._open.remove(place)
            if last:
                del self._rows[at + len(events) :]
                self._count, self.over = place + PLACES, True
                self._open.clear()
            self._change.notify_all()

    def close(self) -> None:
        """Nothing more will come."""
        with self._change:
            self.over = True
            self._open.clear()
            self._change.notify_all()

    def _thin(self) -> None:
        cut = [i for i, (_, event) in enumerate(self._rows) if isinstance(event, FREQUENT)][-self.room // 2]
        old, new = self._rows[:cut], self._rows[cut:]
        rounds = [event.t for _, event in old if isinstance(event, Round | Served)]
        while sum(t % self.every == 0 for t in rounds) > self.room // 4 and self.every <= max(rounds):
            self.every *= 2
        few = sum(t % self.every == 0 for t in rounds) <= self.room // 4  # not where there is no room for all ranks
        self._rows = [row for row in old if self._stays(row[1], few)] + new
        self._frequent = sum(isinstance(event, FREQUENT) for _, event in self._rows)

    def _stays(self, event: Event, few: bool) -> bool:
        if not isinstance(event, FREQUENT):
            return True
        return few and not isinstance(event, FLEETING) and event.t % self.every == 0

    # ---- reading ----

    def since(self, place: int = 0) -> tuple[list[Event], int]:
        """What has been told from this place on, and the place to ask from next time."""
        with self._change:
            end = self._end()
            first, last = (bisect_left(self._rows, at, key=serial) for at in (place, end))
            return [event for _, event in self._rows[first:last]], end

    def __iter__(self) -> Iterator[Event]:
        """All events, waiting for those to come, until it is closed."""
        place, over = 0, False
        while not over:
            over = self._await(place)
            events, place = self.since(place)
            yield from events

    def _await(self, place: int) -> bool:
        """Until something is told from this place on; has all been told?"""
        with self._change:
            self._change.wait_for(lambda: self.over or self._end() > place)
            return self.over

    def _end(self) -> int:
        return self._open[0] if self._open else self._count
