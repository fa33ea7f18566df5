"""P ranks of T threads against P T ranks, measured: what the document asks for next (MPI and OpenMP).

All ways share one total batch, so they take the same steps but for rounding; ranks exchange gradients, threads add them
up in the memory that they share (`Model(threads=...)`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from statistics import median

from dlmini.comm.processes import Processes
from dlmini.data import load
from dlmini.events import Round
from dlmini.nn import lenet
from dlmini.optim import SGD
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.task import Classify

STEPS, TRIES, BATCH = 40, 3, 100


@dataclass(frozen=True)
class Way:
    """images: a second, of all ranks together; the median of several runs."""

    ranks: int
    threads: int
    images: float

    def __str__(self) -> str:
        return f"{self.ranks} x {self.threads}: {self.images:,.0f} images/s"


def ways_of(cores: int) -> list[tuple[int, int]]:
    """(ranks, threads) whose product is `cores`, most ranks first."""
    return [(ranks, cores // ranks) for ranks in range(cores, 0, -1) if cores % ranks == 0]


def measured(cores: int | None = None, steps: int = STEPS, tries: int = TRIES, network=lenet) -> list[Way]:
    """Every way on this machine, in turns, so that what disturbs it disturbs all alike."""
    cores = cores or min(4, os.cpu_count() or 1)
    found = {way: [] for way in ways_of(cores)}
    for _ in range(tries):
        for (ranks, threads), speeds in found.items():
            speeds.append(speed(ranks, threads, cores * BATCH, steps, network))
    return [Way(*way, median(speeds)) for way, speeds in found.items()]


def speed(ranks: int, threads: int, batch: int, steps: int, network) -> float:
    """Images a second, from the first step to the last."""
    task = Classify(network(threads=threads), *load("fashion-mnist"), batch // ranks)
    run = train(task, Recipe(optimizer=SGD(0.05), rounds=steps + 1), Processes(ranks))
    run.result()
    ends = [event.at for event in run.events if isinstance(event, Round) and event.rank == 0]
    return steps * batch / (ends[-1] - ends[0])
