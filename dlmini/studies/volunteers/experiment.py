"""The experiment: a population works off the units in virtual time, and the network is really trained on them.

What a unit's training gives depends on the unit's number and the weights it began with, never on who did it or when.
So the story comes first, and then exactly the units are trained whose honest answers it says were accepted:

    w(t+1) = mean over accepted units u of  train(w(t), u)            (lies: w(t) + NOISE |train - w(t)| random)
Units of one iteration are trained `crew` at a time in threads; the mean is taken in their order, so any crew gives
the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from dlmini.studies.volunteers.published import ITERATIONS, UNITS
from dlmini.volunteer.population import Story
from dlmini.volunteer.work import Work, mean_of

WORK = Work("volunteer_net", "mnist", UNITS, ITERATIONS, steps=4, batch=8, optimizer="adam", rate=0.001)
NOISE = 10.0  # a liar's answer: as long as ten honest steps, in any direction


@dataclass
class Learned:
    """looks: (iteration, seconds of virtual time, accuracy)."""

    work: Work
    looks: list[tuple[int, float, float]] = field(default_factory=list)

    @property
    def accuracy(self) -> float:
        return self.looks[-1][2]

    @property
    def rows(self) -> float:
        """Rows of a local set."""
        return len(self.work.sets[0]) / self.work.units


def learn(work: Work, story: Story, crew: int = 1, every: int = 1, tell: Callable | None = None) -> Learned:
    """Train what the story tells of; a look at the test set after every so many iterations, and after the last."""
    found, w = Learned(work, [(0, 0.0, work.accuracy(work.initial()))]), work.initial()
    with ThreadPoolExecutor(crew) as pool:
        for t, one in enumerate(story.iterations, 1):
            chosen = sorted([*one.honest, *one.lies])
            lies = {*one.lies}
            answers = pool.map(lambda unit, w=w, lies=lies: answer(work, w, unit, unit in lies), chosen)
            w = next_weights(answers, w)
            if t % every == 0 or t == len(story.iterations):
                found.looks.append((t, one.ended, work.accuracy(w)))
                if tell:
                    tell(*found.looks[-1])
    return found


def next_weights(answers, w: np.ndarray) -> np.ndarray:
    mean = mean_of(answers)
    return w if mean is None else mean  # every unit was given up


def answer(work: Work, w: np.ndarray, unit: int, lie: bool) -> np.ndarray:
    if not lie:
        return work.train(w, unit)
    noise = np.random.default_rng([work.seed, unit, 0, 20]).standard_normal(w.size).astype(np.float32)
    return w + noise * np.float32(NOISE * work.rate * work.steps)
