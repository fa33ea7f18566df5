"""What being late costs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import ceil

from dlmini import checks
from dlmini.grade.reading.exports import seconds

DAY = 86400.0


@dataclass(frozen=True)
class Deadline:
    """A share of the points for every day that has begun, up to a largest share.

        penalty = points * min(most, per_day * ceil((time - due) / day)) / 100
    due: in seconds; per_day, most: in per cent. Who has a due of one's own is measured by that.
    """

    due: float
    per_day: float = 10.0
    most: float = 100.0

    def __post_init__(self):
        checks.real(self.due, "due")
        checks.real(self.per_day, "the penalty of a day, in per cent,", least=0, most=100)
        checks.real(self.most, "the largest penalty, in per cent,", least=0, most=100)

    def share(self, time: float, own: float | None = None) -> float:
        """Which share of the points is lost by a hand-in of this time. Of an unknown time (0): none."""
        late = time - (self.due if own is None else own)
        return min(self.most, self.per_day * ceil(late / DAY)) / 100 if time > 0 and late > 0 else 0.0


def deadline(due: str | None, per_day: float = 10.0, most: float = 100.0) -> Deadline | None:
    """From words: 2026-11-20 23:59, with or without a zone; None where there is none."""
    if due is None:
        return None
    if (found := seconds(due)) is None:
        raise ValueError(
            f"--due {due!r} is no time; write it as 2026-11-20 23:59, or with a zone as 2026-11-20T23:59+03:00"
        )
    return Deadline(found, per_day, most)


def clock(time: float) -> str:
    """A time as tables show it: local, to the minute; nothing for an unknown one, or of a year that no calendar has."""
    try:
        return datetime.fromtimestamp(time).isoformat(" ", "minutes") if time > 0 else ""
    except (ValueError, OverflowError, OSError):
        return ""
