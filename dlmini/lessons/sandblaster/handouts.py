"""Lesson 13: one evaluation, portion by portion, with a student's `next_portion`; no messages, only who works on what.

The whole of it, with messages, shards and deaths, is `dlmini/sandblaster`; `portion_run` watches that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import heappop, heappush

import numpy as np

from dlmini.comm.launch import launch
from dlmini.data import blobs
from dlmini.events import Fault, Portion
from dlmini.nn import Dense, Model
from dlmini.sandblaster import Sandblaster
from dlmini.sandblaster.portions import LATE, next_portion
from dlmini.sandblaster.program import program
from dlmini.sim import Cluster, Simulated
from dlmini.task import Classify

RULE = "a free replica gets one of `waiting`; only if there is none, a copy of a late one, or None"
REPLICAS, SHARDS, SECONDS, SLOW = 5, 2, 0.01, 1  # of the watched run; SLOW is the rank of the slow one


def library(replica: int, waiting: list[int], held: dict, late: list[int]) -> int | None:
    """The library's rule, as the exercise asks for it: without affinity."""
    return next_portion(replica, {*waiting}, held, set(), set(), late)


@dataclass(frozen=True)
class Stretch:
    """A replica at work on a portion; `counts`: whether this copy was the first to be done."""

    replica: int
    portion: int
    start: float
    end: float
    counts: bool


def evaluation(seconds: Sequence[float], portions: int, decide: Callable = library, backup: bool = True):
    """(stretches, when the last portion counted) of one evaluation; seconds[r] is what replica r takes for a portion.

    A portion is late after twice what the fastest takes. A copy that is under way at the end is drawn to its end.
    """
    waiting, held, since, counted = list(range(portions)), {}, {}, {}
    idle, queue, done, usual = set(range(len(seconds))), [(0.0, -1, -1)], [], min(seconds)
    while len(counted) < portions and queue:
        now, replica, portion = heappop(queue)
        if replica >= 0:
            idle.add(replica)
            first = counted.setdefault(portion, replica) == replica
            done.append(Stretch(replica, portion, now - seconds[replica], now, first))
            held.pop(portion, None)
        if len(counted) < portions:
            late = [p for p in held if since[p] + LATE * usual <= now] if backup else []
            for free in sorted(idle):
                chosen = decide(free, list(waiting), {p: list(rs) for p, rs in held.items()}, list(late))
                if chosen is None:
                    continue
                if chosen not in waiting and chosen not in held:
                    raise ValueError(f"replica {free} was given {chosen!r}, which neither waits nor is held: {RULE}")
                idle.discard(free)
                if chosen in waiting:
                    waiting.remove(chosen)
                held.setdefault(chosen, []).append(free)
                since[chosen], late = now, [p for p in late if p != chosen]
                heappush(queue, (now + seconds[free], free, chosen))
                heappush(queue, (now + LATE * usual, -1, -1))  # somebody may ask again when it is late
    if waiting:
        raise ValueError(f"all replicas were sent away while portions {waiting} waited: {RULE}")
    end = max((one.end for one in done if one.counts), default=0.0)
    rest = [Stretch(r, p, at - seconds[r], at, False) for at, r, p in queue if r >= 0]
    return [*done, *rest], end


@dataclass(frozen=True)
class Watched:
    """A real Sandblaster in virtual time: what became of each portion, who died, when it ended, and its weights."""

    portions: int
    events: tuple[Portion, ...]
    seconds: float
    weights: np.ndarray
    deaths: tuple[Fault, ...] = ()

    def evaluation_seconds(self, number: int) -> float:
        """From the first portion handed out to the last that counted."""
        times = [event.at for event in self.events if event.number == number and event.what != "dropped"]
        return max(times) - min(times)


def small_task() -> Classify:
    sets = blobs(960, 5, 0.6, seed=1), blobs(200, 5, 0.6, seed=2)
    return Classify(Model([Dense(5)], sets[0].shape), *sets, batch=1000)


@lru_cache(32)
def portion_run(slower: float = 1.0, backup: bool = True, dead: int | None = None, portions: int = 24) -> Watched:
    """Three iterations with replica 1 `slower` times slower; replica `dead` is killed in the second evaluation."""
    recipe = Sandblaster(portions=portions, shards=SHARDS, backup=backup, rounds=3, tolerance=0)
    crash = {} if dead is None else {dead: 1.45 * portions * SECONDS / REPLICAS}
    cluster = Cluster(seconds={"gradient": SECONDS}, speed={SLOW: 1 / slower}, crash=crash)
    on, able = Simulated(REPLICAS + SHARDS + 1, cluster), range(REPLICAS)
    found = launch(program, on, (small_task(), recipe), may_die=able)
    events = tuple(event for event in found.events if isinstance(event, Portion))
    deaths = tuple(event for event in found.events if isinstance(event, Fault))
    weights = np.concatenate([found[REPLICAS + shard] for shard in range(SHARDS)])
    return Watched(portions, events, found.seconds, weights, deaths)
