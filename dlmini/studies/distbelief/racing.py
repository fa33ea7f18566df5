"""A race against the clock, and the search for the one number that each method leaves open.

The search is the same for all: five values, the middle one first; each learns until the rows held back are right as
often as the target asks, and is given up when it has taken as long as the best before it, or as a race may last. The
value that was there first is taken; where none got there, the one that came closest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan
from typing import NamedTuple

from dlmini.comm.processes import Processes
from dlmini.run import train
from dlmini.studies.distbelief.methods import Form, Method

REMEMBERED = 1000  # events of a race: only looks are asked for, and those are all kept
EVERY = 50  # rounds between two looks on processes, where a gradient takes a hundredth of what it takes in virtual time


class Look(NamedTuple):
    seconds: float
    loss: float
    accuracy: float


@dataclass(frozen=True)
class Race:
    """One method, one value, so many replicas."""

    method: Method
    value: float
    replicas: int
    seed: int
    looks: tuple[Look, ...]
    target: float

    @property
    def name(self) -> str:
        many = f", {self.replicas} replicas" if self.replicas > 1 else ""
        return f"{self.method.name}{many}"

    @property
    def seconds(self) -> float:
        """Until the target; infinity if it was not reached."""
        return next((look.seconds for look in self.looks if look.accuracy >= self.target), inf)

    @property
    def accuracy(self) -> float:
        """At the end."""
        return self.looks[-1].accuracy if self.looks else nan

    @property
    def rank(self) -> tuple[float, float]:
        """The better of two races has the lower one."""
        return self.seconds, -max((look.accuracy for look in self.looks), default=0.0)


def race(
    form: Form, method: Method, value: float, replicas: int, seed: int = 0, ends=False, choosing=False, real=False
) -> Race:
    """Against the clock. ends: at the target; choosing: on the rows held back; real: on processes of this machine."""
    task, recipe = form.task(choosing), method.recipe(value, replicas, seed)
    if real and recipe.evaluate_every > 1:
        recipe = replace(recipe, evaluate_every=EVERY)
    place = Processes(method.machines(replicas)) if real else method.place(task, replicas)
    looks = timed(task, recipe, place, form.real if real else form.seconds, form.target if ends else None)
    return Race(method, value, replicas, seed, tuple(looks), form.target)


def timed(task, recipe, place, seconds: float, until: float | None) -> list[Look]:
    """Looks at the test set until so many seconds of the place's own clock; if the loss is lost, those before."""
    run = train(task, recipe, place, until=until, remember=REMEMBERED)
    try:
        for event in run:
            if event.at > seconds:
                run.stop()
                break
        run.result()
    except FloatingPointError:
        pass  # a rate at which the loss is lost
    found = [Look(m.at, m.loss, m.accuracy) for m in run.looks.measured]
    return [look for look in found if look.seconds <= seconds]


class Choice(NamedTuple):
    """What the search found for a method with so many replicas, and all that it tried."""

    method: Method
    replicas: int
    races: tuple[Race, ...]

    @property
    def best(self) -> Race:
        return min(self.races, key=lambda race: race.rank)

    @property
    def value(self) -> float:
        return self.best.value

    @property
    def at_the_edge(self) -> bool:
        """Whether the best value is the first or the last tried: a wider search might find a better one."""
        return self.value in (self.method.tried[0], self.method.tried[-1])


def search(form: Form, method: Method, replicas: int) -> Choice:
    """All values, one after the other."""
    middle, races = len(method.tried) // 2, []
    for place in sorted(range(len(method.tried)), key=lambda i: (abs(i - middle), i)):
        limit = min((one.seconds for one in races), default=form.seconds)
        shorter = replace(form, seconds=min(limit, form.seconds))
        races.append(race(shorter, method, method.tried[place], replicas, ends=True, choosing=True))
    return Choice(method, replicas, tuple(races))
