"""What one slow worker costs: everybody's time where all wait for all, and little where nobody does.

With one of N equal workers s times slower, a bulk-synchronous round takes s times as long. Stale-synchronous training
runs at most `bound` rounds ahead: it hides what comes and goes, but a worker that is always slow sets its pace in the
end. Asynchronous training loses only that worker's share.

Beware of unfair races: where pushes are applied one by one, N pushes make N steps, while bulk-synchronous training
makes one step on their mean. So its fair rival steps N times as far; give each recipe the rate that suits it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from dlmini.events import Measured
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sim import Cluster, Simulated


@dataclass(frozen=True)
class Race:
    """One recipe until the target: seconds are virtual, infinity if it never got there."""

    label: str
    seconds: float
    looks: tuple[Measured, ...]


def straggler(
    task,
    recipes: Mapping[str, Recipe],
    target: float,
    workers: int = 8,
    slower: float = 5.0,
    gradient: float = 0.01,
    jitter: float = 0.0,
) -> list[Race]:
    """Train by each recipe with worker 1 `slower` times slower, until the test accuracy is `target` or rounds are over.

    A gradient takes `gradient` seconds on an ordinary machine, more or less by the share `jitter`. A recipe's `look`
    says how often worker 0, an ordinary one, shows its weights.
    """
    cluster = Cluster(seconds={"gradient": gradient}, speed={1: 1 / slower}, jitter=jitter)
    races = []
    for label, recipe in recipes.items():
        place = Simulated(workers + recipe.topology.servers, cluster)
        looks = tuple(train(task, recipe, place, until=target).result().measured)
        races.append(Race(label, next((m.at for m in looks if m.accuracy >= target), inf), looks))
    return races


def ways(recipe: Recipe, **syncs) -> dict[str, Recipe]:
    """The same recipe, synchronised in several ways: ways(recipe, BSP=BulkSynchronous(), SSP=StaleSynchronous(3))."""
    return {label: replace(recipe, sync=sync) for label, sync in syncs.items()}


def picture(races: list[Race], target: float):
    """Accuracy over virtual seconds, one curve each; the target is a grey line."""
    from dlmini.show import curves
    from dlmini.show.palette import GREY

    def named(race):
        return f"{race.label}: {race.seconds:.2f} s" if race.seconds < inf else f"{race.label}: not reached"

    figure = curves({named(race): race.looks for race in races}, by="seconds", what=("accuracy",))
    figure.axes[0].axhline(target, color=GREY, linewidth=1, zorder=1)
    return figure
