"""What will happen when: events by time, and those of one moment by their tie-break.

Ranks that do the same work are often at the same place in time, so events are kept in one list per moment, and only the
moments in a heap. An event is a tuple that begins (tie, serial, ...). Within a moment come, in this order,

    FIRST          those who go on with their program, whatever others do at this moment
    -1 ... 1       messages on their way, in fair random order
    POST -1 ... 1  messages that set out and want a port which others use too
    LAST           those who want to know all that has happened until now
"""

from __future__ import annotations

from heapq import heappop, heappush

FIRST, POST, LAST = float("-inf"), 4.0, float("inf")


class EventQueue:
    __slots__ = ("days", "late", "moments", "time", "today")

    def __init__(self):
        self.time, self.moments = FIRST, []
        self.today: list[tuple] = []  # what was planned for the present moment, the next at the end
        self.late: list[tuple] = []  # what is planned for it meanwhile: a heap
        self.days: dict[float, list[tuple]] = {}

    def push(self, time: float, event: tuple) -> None:
        day = self.days.get(time)
        if day is not None:
            day.append(event)
        elif time > self.time:
            self.days[time] = [event]
            heappush(self.moments, time)
        elif time == self.time:
            heappush(self.late, event)
        else:
            raise RuntimeError(f"an event at {time} s was planned at {self.time} s: the past cannot be changed")

    def pop(self) -> tuple | None:
        """The next event; its time is `self.time`. None when there is none."""
        today = self.today
        if self.late:
            return today.pop() if today and today[-1] < self.late[0] else heappop(self.late)
        if not today:
            if not self.moments:
                return None
            self.time = heappop(self.moments)
            self.today = today = self.days.pop(self.time)
            if len(today) > 1:
                today.sort(reverse=True)
        return today.pop()

    def events(self) -> list[tuple]:
        """All that is to come, in no order."""
        return [*self.today, *self.late, *(event for day in self.days.values() for event in day)]
