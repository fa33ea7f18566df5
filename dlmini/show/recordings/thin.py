"""Thinning: of thousands of events, those that a picture needs.

Of a worker's rounds some hundred are kept: the first, the last, those of the looks at the test set, and every k-th.
What its rank has spent and sent is counted from the start of the run, so what is kept says it all; its loss becomes the
mean since the round kept before. Pushes to a server are told together with a later one: how stale each was is kept,
which worker made it is not, since no picture shows it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dlmini.events import Done, Event, Fault, Measured, Portion, Round, Served, Spread

ROWS = 1600  # of a run's rounds, of all workers together; and besides those of the looks
MOMENTS = 240  # of one worker, or one server
NOBODY = -1
KEPT = (Measured, Spread, Portion, Fault, Done)


def thinned(events: Iterable[Event]) -> list[Event]:
    """What a board needs, by time; a board that takes it ends as one that takes all."""
    events = sorted(events, key=lambda event: event.at)
    rounds, pushes = of_ranks(events, Round), of_ranks(events, Served)
    ends = kept_rounds(events, len(rounds))
    few = [event for mine in rounds.values() for event in fewer_rounds(mine, ends)]
    few += [event for mine in pushes.values() for event in fewer_pushes(mine)]
    return sorted(few + [event for event in events if isinstance(event, KEPT)], key=lambda event: event.at)


def of_ranks(events: Iterable[Event], kind: type) -> dict[int, list]:
    found: dict[int, list] = {}
    for event in events:
        if isinstance(event, kind):
            found.setdefault(event.rank, []).append(event)
    return dict(sorted(found.items()))


def kept_rounds(events: Sequence[Event], workers: int) -> list[int]:
    """Which rounds all workers keep: the same ones, so that a point of the curve is a mean over all of them."""
    last = max((event.t for event in events if isinstance(event, Round)), default=0)
    every = -(-(last + 1) // max(1, min(MOMENTS, ROWS // max(1, workers))))
    looks = {event.t for event in events if isinstance(event, Measured)}
    return sorted({0, last, *range(0, last, every), *looks})


def fewer_rounds(rounds: Sequence[Round], ends: Sequence[int]) -> list[Round]:
    """The last round of each group, with the group's mean loss. Nobody need come to the last end: he may be killed."""
    groups: dict[int, list[Round]] = {}
    for event in rounds:
        groups.setdefault(bisect_left(ends, event.t), []).append(event)
    return [replace(group[-1], loss=sum(event.loss for event in group) / len(group)) for group in groups.values()]


def fewer_pushes(pushes: Sequence[Served]) -> list[Served]:
    """As many as there were, but in few moments; those of one moment by staleness."""
    size = -(-len(pushes) // MOMENTS)
    groups = [pushes[i : i + size] for i in range(0, len(pushes), size)]
    late = ((group[-1], sorted(push.staleness for push in group)) for group in groups)
    return [replace(last, worker=NOBODY, t=NOBODY, staleness=s) for last, staleness in late for s in staleness]
