"""Events as columns of small whole numbers: what gzip likes best.

All rounds of a rank are one table, and so are all pushes to a server. Times are microseconds since the run's start. Of
numbers that only grow, the differences are written; they are of whole numbers, so adding them up loses nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby, pairwise

from dlmini.events import PHASES, Event, Phases, Round, Served, as_dict, from_dict
from dlmini.show.recordings.thin import NOBODY, of_ranks

MICRO, DIGITS = 1_000_000, 5
MOST = 1_000_000  # pushes of a run: a file must not be able to fill the memory
GROWING = ("at", *PHASES, "sent", "messages")
FLOATS = ("at", "loss", "accuracy", "distance")


def packed(events: Sequence[Event]) -> dict:
    """What JSON can hold; `unpacked` makes the events of it."""
    rounds = {str(rank): pack_rounds(mine) for rank, mine in of_ranks(events, Round).items()}
    pushes = {str(rank): pack_pushes(mine) for rank, mine in of_ranks(events, Served).items()}
    others = [plain(as_dict(event)) for event in events if not isinstance(event, Round | Served)]
    return {"rounds": rounds, "pushes": pushes, "others": others}


def unpacked(row: dict) -> list[Event]:
    """By time; of one instant, rounds come before a look at what they led to."""
    events = [event for rank, table in row["rounds"].items() for event in unpack_rounds(int(rank), table)]
    events += [event for rank, table in row["pushes"].items() for event in unpack_pushes(int(rank), table)]
    for other in row["others"]:
        numbers = {name: float(other[name]) for name in FLOATS if name in other}
        events.append(from_dict({**other, **numbers}))
    return sorted(events, key=lambda event: event.at)


def pack_rounds(rounds: Sequence[Round]) -> dict[str, list]:
    table = growing(rounds)
    table["t"] = steps(event.t for event in rounds)
    table["loss"] = [plain(float(event.loss)) for event in rounds]
    table["nbytes"] = steps(event.nbytes for event in rounds)
    return table


def unpack_rounds(rank: int, table: dict) -> list[Round]:
    whole = zip(sums(table["t"]), table["loss"], sums(table["nbytes"]), grown(table), strict=True)
    return [Round(t, float(loss), nbytes, **so_far, rank=rank) for t, loss, nbytes, so_far in whole]


def pack_pushes(pushes: Sequence[Served]) -> dict[str, list]:
    """A row for all of one moment: [staleness, how many, staleness, how many, ...]."""
    moments = [list(group) for _, group in groupby(pushes, lambda push: push.at)]
    counts = (Counter(push.staleness for push in group) for group in moments)
    flat = [[number for pair in sorted(count.items()) for number in pair] for count in counts]
    return {**growing([group[-1] for group in moments]), "staleness": flat}


def unpack_pushes(rank: int, table: dict) -> list[Served]:
    found, total = [], sum(sum(flat[1::2]) for flat in table["staleness"])
    if total > MOST:
        raise ValueError(f"{total:,} pushes are more than anybody has recorded")
    for flat, so_far in zip(table["staleness"], grown(table), strict=True):
        for staleness, count in zip(flat[::2], flat[1::2], strict=True):
            found += [Served(NOBODY, NOBODY, staleness, **so_far, rank=rank)] * count
    return found


def growing(events: Sequence[Round | Served]) -> dict[str, list[int]]:
    """The columns of what has been spent and sent so far."""
    rows = [(event, event.phases or Phases()) for event in events]
    table = {"at": steps(round(MICRO * event.at) for event, _ in rows)}
    table |= {phase: steps(round(MICRO * getattr(phases, phase)) for _, phases in rows) for phase in PHASES}
    return table | {name: steps(getattr(event, name) for event, _ in rows) for name in ("sent", "messages")}


def grown(table: dict[str, list[int]]) -> list[dict]:
    """Fields of events, row by row."""
    rows = zip(*(sums(table[name]) for name in GROWING), strict=True)
    return [
        {"at": at / MICRO, "phases": Phases(*(s / MICRO for s in spent)), "sent": sent, "messages": messages}
        for at, *spent, sent, messages in rows
    ]


def steps(numbers: Iterable[int]) -> list[int]:
    return [int(b - a) for a, b in pairwise([0, *numbers])]


sums = accumulate


def plain(value):
    """Rounded to what a picture can show. JSON has no word for infinity: it is written as text."""
    if isinstance(value, dict):
        return {key: round(v, 6) if key == "at" else plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if abs(value) < float("inf") else str(value)
    return value
