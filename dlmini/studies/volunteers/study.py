"""The whole study: the experiment, VM against container, and the sweeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from dlmini.checks import whole
from dlmini.studies.volunteers import sweeps
from dlmini.studies.volunteers.experiment import WORK, Learned, learn
from dlmini.studies.volunteers.published import HOSTS
from dlmini.studies.volunteers.sweeps import Row, with_seeds
from dlmini.volunteer.delivery import CONTAINER, VM
from dlmini.volunteer.population import ONE, Population, Story

PARTS = ("experiment", "delivery", "dispatch", "learning")


@dataclass
class Found:
    """What was found; what was not asked for is empty."""

    seed: int = 0
    seeds: int = 1  # of the sweeps
    vm: Story | None = None
    container: Story | None = None
    learned: Learned | None = None
    seconds: float = 0.0  # that the experiment really took
    others: list[float] = field(default_factory=list)  # the success of other seeds
    deadlines: list[Row] = field(default_factory=list)
    quorums: list[Row] = field(default_factory=list)
    sets: list[Row] = field(default_factory=list)
    steps: list[Row] = field(default_factory=list)


def study(
    parts=PARTS[:3],
    seed: int = 0,
    crew: int = 1,
    say: Callable[[str], None] = print,
    iterations: int | None = None,
    seeds: int = 1,
    into: Found | None = None,
) -> Found:
    """parts: of PARTS. say: hears a line now and then. iterations: fewer than the published 64, for a quick look.
    seeds: of the sweeps, from `seed` on. into: holds what is done, for who ends it early."""
    work = replace(
        WORK, seed=whole(seed, "seed", 0, 2**31), iterations=whole(iterations or WORK.iterations, "iterations", 1)
    )
    found, began = into or Found(seed, whole(seeds, "seeds", 1)), time.perf_counter()
    say(f"{HOSTS} hosts, {work.iterations} iterations of {work.units} units, VM, in virtual time")
    found.vm = story_of(VM, work)
    say(f"  {found.vm.good:,} good and {found.vm.failed:,} failed: {found.vm.success:.2%}, {found.vm.days:.0f} days")
    if "experiment" in parts:
        say(f"training {work.model}: {work.size:,} weights, {work.steps} steps of {work.batch} rows in a unit")
        found.learned = learn(work, found.vm, crew, every=max(1, work.iterations // 16), tell=teller(say))
        found.seconds = time.perf_counter() - began
        say(f"  the experiment took {found.seconds:.0f} s")
    if "delivery" in parts:
        say("the same people with containers, and other seeds")
        found.container = story_of(CONTAINER, work)
        found.others = [story_of(VM, replace(work, seed=seed + k)).success for k in range(1, 5)]
    if "dispatch" in parts:
        say("deadlines and quorums")
        short = min(sweeps.SHORT, work.iterations)
        found.deadlines = with_seeds(partial(sweeps.by_deadline, iterations=short), seed, seeds)
        found.quorums = with_seeds(partial(sweeps.by_quorum, iterations=short), seed, seeds)
    if "learning" in parts:
        say("local sets and local steps")
        how = {"iterations": min(16, work.iterations), "crew": crew, "tell": say}
        found.sets = with_seeds(partial(sweeps.by_local_set, **how), seed, seeds)
        found.steps = with_seeds(partial(sweeps.by_steps, **how), seed, seeds)
    return found


def story_of(delivery, work) -> Story:
    return Population(HOSTS, delivery, seed=work.seed).run(work.units, work.iterations, ONE)


def teller(say: Callable[[str], None]) -> Callable:
    return lambda t, at, accuracy: say(f"  iteration {t}, day {at / 86400:.1f}: {accuracy:.1%}")
