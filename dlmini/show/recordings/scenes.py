"""What is recorded of which lesson: the runs that its "Click" asks for. To add a run, add a `Scene`.

A scene says in words what one would choose in the dashboard, and what one does to a rank while it runs. Simulated runs
come out the same on every machine of a kind; those on processes show the machine they were recorded on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from dlmini.nn import lenet, mlp

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
    """One run: what `dashboard(task, ...)` would be given, what is done meanwhile, and a word on it for the legend."""

    steps: int  # of each worker
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


@dataclass(frozen=True)
class Film:
    """The recording of a lesson: the network that learns, and the runs, in the order in which one would show them."""

    network: Callable
    scenes: tuple[Scene, ...]
    batch: int = 25
    rate: float = 0.05


SMALL = partial(mlp, (32,))
SLOWED = {"deeds": (Deed(0.3, "slow"), Deed(0.7, "speed up")), "remark": "rank 1 slowed for a while"}
NINTH = {"sync": "local:16", "topology": "gossip:rotating", "compression": THRESHOLD}
KILLED = {"deeds": (Deed(0.5, "kill"),), "remark": "rank 1 killed"}

FILMS = {
    "03_data_parallelism": Film(
        lenet,
        (
            Scene(**REAL, workers=1, steps=400),
            Scene(**REAL, workers=2, steps=400),
            Scene(**REAL, workers=4, steps=400),
            Scene(**REAL, **SLOWED, workers=4, steps=400),
            Scene(**REAL, **KILLED, workers=4, steps=400),
        ),
    ),
    "06_asynchrony": Film(
        lenet,
        tuple(
            Scene(**REAL, **SLOWED, sync=sync, topology="server", workers=3, steps=300)
            for sync in ("async", "bsp", "ssp:3")
        ),
    ),
    "07_local_sgd": Film(
        SMALL,
        tuple(Scene(**GIGABIT, sync=sync, workers=8, steps=800) for sync in ("bsp", "local:4", "local:16")),
    ),
    "08_gossip": Film(
        SMALL,
        tuple(
            Scene(topology=topology, workers=16, steps=400)
            for topology in ("gossip:ring", "gossip:ring,what=weights", "gossip:rotating")
        ),
    ),
    "09_quantisation": Film(
        lenet, tuple(Scene(**GIGABIT, compression=brief, steps=1000) for brief in ("none", "int8", ONE_BIT))
    ),
    "10_sparsification": Film(
        SMALL,
        (
            Scene(**GIGABIT, compression=LARGEST, steps=1000),
            Scene(**GIGABIT, compression="none", steps=1000),
            Scene(**GIGABIT, topology="gossip:rotating", compression=THRESHOLD, steps=1000),
        ),
    ),
    # Of the ten configurations of Tolstobrov 2022 the first (Local-SGD that meets after every step is bulk-synchronous
    # training, lesson 07), the ninth and the tenth.
    "11_composing": Film(
        SMALL,
        (
            Scene(**GIGABIT, workers=8, steps=800, remark="configuration 1"),
            Scene(**GIGABIT, **NINTH, workers=8, steps=800, remark="configuration 9"),
            Scene(**GIGABIT, sync="local:32", workers=8, steps=800, remark="configuration 10"),
        ),
    ),
}
