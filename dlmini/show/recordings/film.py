"""A film: what is recorded of a lesson. Each lesson's `recording.py` has its own; to add a run, add a `Scene` there.

A scene says in words what one would choose in the dashboard, and what one does to a rank while it runs. Simulated runs
come out the same on every machine of a kind; those on processes show the machine they were recorded on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from dlmini.nn import mlp

GIGABIT = {"network": "gigabit"}
REAL = {"on": "processes"}
ONE_BIT, LARGEST, THRESHOLD = "1 bit (with error feedback)", "the largest 1 % (top-k)", "the largest 5 % (threshold)"


@dataclass(frozen=True)
class Deed:
    """When worker 0 has ended this part of the rounds, somebody presses a button."""

    after: float
    button: str  # slow, speed up or kill
    rank: int = 1


@dataclass(frozen=True)
class Scene:
    """One run: what `dashboard(task, ...)` would be given, what is done meanwhile, and a word on it for the legend.

    method: a Sandblaster, in the place of steps and of the three levels.
    """

    steps: int = 0  # of each worker
    sync: str = "bsp"
    topology: str = "allreduce"
    compression: str = "none"
    workers: int = 4
    network: str | None = None
    on: str = "simulated"
    looks: int = 20
    slow: dict[int, float] = field(default_factory=dict)
    deeds: tuple[Deed, ...] = ()
    remark: str = ""
    method: object | None = None


@dataclass(frozen=True)
class Film:
    """The recording of a lesson: the network that learns, and the runs, in the order in which one would show them.

    task: makes another task than pictures of clothes; optimizer: another than plain descent at `rate`.
    """

    network: Callable | None
    scenes: tuple[Scene, ...]
    batch: int = 25
    rate: float = 0.05
    task: Callable | None = None
    optimizer: object | None = None


SMALL = partial(mlp, (32,))
SLOWED = {"deeds": (Deed(0.3, "slow"), Deed(0.7, "speed up")), "remark": "rank 1 slowed for a while"}
KILLED = {"deeds": (Deed(0.5, "kill"),), "remark": "rank 1 killed"}
