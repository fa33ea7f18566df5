"""What the project's choices buy and cost, one at a time.

Deadline and quorum need no training: the dispatcher and the hosts decide. Local sets and local steps do: fewer, larger
units waste less time on starting a machine, but one that fails costs more; more steps let answers drift apart.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from statistics import fmean

from dlmini.studies.volunteers.experiment import WORK, learn
from dlmini.studies.volunteers.published import HOSTS
from dlmini.volunteer.delivery import VM
from dlmini.volunteer.population import ONE, Population, Story
from dlmini.volunteer.simulated_host import HOUR, Nature
from dlmini.volunteer.unit import Terms

DEADLINES = (1, 2, 4, 8, 12, 24, 48, 96)  # hours
QUORUMS = (1, 2, 3, 5)
LIARS = (0.0, 0.05, 0.2)
SETS = (75, 150, 297, 600)  # units in an iteration: the training set in so many parts
STEPS = (1, 2, 4, 8)
SHORT = 8  # iterations of a story without training
THERE = Nature(arrive=0.0)  # short stories begin with everybody there


@dataclass
class Row:
    """One line of a sweep: what was set, what came of it; again: the same with other seeds."""

    value: object
    story: Story
    accuracy: float | None = None
    again: list[Row] = field(default_factory=list)

    def spread(self, ask: Callable[[Row], float]) -> tuple[float, float, float]:
        """Mean, least and most over the seeds."""
        found = [ask(row) for row in (self, *self.again)]
        return fmean(found), min(found), max(found)


def pace(row: Row) -> float:
    """Days of an iteration."""
    return row.story.days / len(row.story.iterations)


def results(row: Row) -> int:
    return row.story.good + row.story.failed


def with_seeds(sweep: Callable[[int], list[Row]], seed: int, seeds: int) -> list[Row]:
    """The rows of sweep(seed), each with those of the next seeds."""
    first, *others = [sweep(seed + k) for k in range(seeds)]
    for row, *again in zip(first, *others, strict=True):
        row.again = again
    return first


def terms_of(quorum: int, hours: float = ONE.delay / HOUR) -> Terms:
    """A quorum with as many copies at first, and maxima that let units end well among many failures."""
    return Terms(quorum, quorum, 20, 40, max(4 * quorum, 8), hours * HOUR)


def by_deadline(seed: int = 0, hours=DEADLINES, iterations: int = SHORT) -> list[Row]:
    return [Row(h, Population(HOSTS, VM, THERE, seed=seed).run(WORK.units, iterations, terms_of(1, h))) for h in hours]


def by_quorum(seed: int = 0, quorums=QUORUMS, liars=LIARS, iterations: int = SHORT) -> list[Row]:
    """(quorum, share of liars), each liar with lies of its own."""
    pairs = [(quorum, share) for share in liars for quorum in quorums]
    return [
        Row(
            (quorum, share),
            Population(HOSTS, VM, THERE, liars=share, seed=seed).run(WORK.units, iterations, terms_of(quorum)),
        )
        for quorum, share in pairs
    ]


def by_local_set(seed: int = 0, parts=SETS, iterations: int = 16, crew: int = 1, tell: Callable = print) -> list[Row]:
    """The same rows in fewer, larger parts: each makes as many passes over its own, so all iterations cost the same."""
    return [trained(units, units, WORK.steps * WORK.units / units, iterations, seed, crew, tell) for units in parts]


def by_steps(seed: int = 0, steps=STEPS, iterations: int = 16, crew: int = 1, tell: Callable = print) -> list[Row]:
    """More steps in a unit, fewer iterations: the same number of steps in all."""
    return [trained(n, WORK.units, n, max(1, round(iterations * WORK.steps / n)), seed, crew, tell) for n in steps]


def trained(value, units: int, steps: float, iterations: int, seed: int, crew: int, tell: Callable) -> Row:
    """A unit's seconds grow with its steps."""
    work = replace(WORK, units=units, steps=max(1, round(steps)), iterations=iterations, seed=seed)
    story = Population(HOSTS, VM, THERE, seed=seed).run(units, iterations, ONE, work.steps / WORK.steps)
    found = learn(work, story, crew, every=iterations)
    tell(f"  {units} units of {work.steps} steps, {iterations} iterations: {found.accuracy:.1%}, {story.days:.1f} days")
    return Row(value, story, found.accuracy)
