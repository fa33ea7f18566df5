"""The four methods, each with one number that has to be chosen, and how large the experiment is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dlmini.data import Dataset, load
from dlmini.nn import mlp
from dlmini.optim import SGD, Adagrad
from dlmini.recipe import Recipe
from dlmini.sandblaster import Sandblaster
from dlmini.sim import Simulated
from dlmini.studies.distbelief.machines import CARD, cluster, one
from dlmini.sync import Downpour
from dlmini.task import Classify
from dlmini.topology import AllReduce, ParameterServer

ROUNDS = 10**6  # a race ends by the clock
HELD = 7  # seed of the rows that are held back for the search


@dataclass(frozen=True)
class Form:
    """How large the experiment is.

    seconds: virtual seconds of a race. target: the accuracy that ends one of the search, and of the second figure; well
    below where curves flatten, so that chance decides little.
    many: replicas of Downpour, of Downpour with Adagrad, of Sandblaster in the first figure.
    replicas, sand: those of the second figure. seeds: of the second. real: seconds of a race on processes.
    """

    data: str
    hidden: tuple[int, ...]
    batch: int
    held: int
    seconds: float
    target: float
    many: tuple[int, int, int]
    replicas: tuple[int, ...]
    sand: tuple[int, ...]
    seeds: tuple[int, ...]
    real: float = 15.0

    @cached_property
    def sets(self) -> tuple[Dataset, Dataset, Dataset]:
        """Rows to learn from, rows held back to choose by, rows to try: the last are looked at when all is chosen."""
        rows, test = load(self.data)
        order = np.random.default_rng([HELD, len(rows)]).permutation(len(rows))
        return rows.subset(order[self.held :]), rows.subset(order[: self.held]), test

    def task(self, choosing: bool = False) -> Classify:
        rows, held, test = self.sets
        net = mlp(self.hidden, rows.shape, len(rows.classes))
        return Classify(net, rows, held if choosing else test, self.batch)

    def __str__(self) -> str:
        rows, held, test = map(len, self.sets)
        return (
            f"{self.data}: {rows:,} rows to learn from, {held:,} to choose by, {test:,} to try; dense layers of "
            f"{', '.join(map(str, self.hidden))} units, {self.task().size:,} weights; {self.batch} rows in a mini-batch"
        )


SHORT = Form("mnist", (32,), 20, 1000, 10.0, 0.85, (2, 8, 32), (2, 4, 8, 16), (4, 8, 16, 32), (0, 1, 2))
LONG = Form(
    "fashion-mnist", (128, 64), 20, 2000, 60.0, 0.8, (8, 32, 128), (2, 4, 8, 16, 32, 64), (8, 16, 32, 64, 128),
    (0, 1, 2),
)  # fmt: skip


@dataclass(frozen=True)
class Method:
    """A way to train. `free` is the number to be chosen, `tried` the five values that the search tries.

    `scales`: whether what is best depends on the number of replicas, so that the search is made for each.
    """

    name: str
    free: str
    tried: tuple[float, ...]
    scales: bool = True

    def servers(self, replicas: int) -> int:
        """Shards: one for every four replicas."""
        return max(1, replicas // 4)

    def machines(self, replicas: int) -> int:
        """All of them."""
        return replicas + self.servers(replicas)

    def recipe(self, value: float, replicas: int, seed: int):
        raise NotImplementedError

    def place(self, task, replicas: int) -> Simulated:
        return Simulated(self.machines(replicas), cluster(task, replicas), seed=0)


@dataclass(frozen=True)
class Alone(Method):
    """SGD on one machine, of any speed: nothing is said to anybody, so the curve is the same but for its clock."""

    speed: float = 1.0

    def servers(self, replicas: int) -> int:
        return 0

    def recipe(self, value: float, replicas: int, seed: int) -> Recipe:
        every = round(5 * self.speed)
        return Recipe(topology=AllReduce(), optimizer=SGD(value), rounds=ROUNDS, evaluate_every=every, seed=seed)

    def place(self, task, replicas: int) -> Simulated:
        return one(task, self.speed)


@dataclass(frozen=True)
class Pour(Method):
    """Downpour, fetch = push = 1 as in the paper. With Adagrad replicas push gradients, and shards keep the rates."""

    adagrad: bool = False

    def recipe(self, value: float, replicas: int, seed: int) -> Recipe:
        steps = {"optimizer": SGD(1.0), "outer": Adagrad(value)} if self.adagrad else {"optimizer": SGD(value)}
        shards = ParameterServer(self.servers(replicas))
        return Recipe(Downpour(), shards, rounds=ROUNDS, evaluate_every=4, seed=seed, **steps)


@dataclass(frozen=True)
class Sand(Method):
    """Sandblaster: twice as many portions as replicas, and at least 32; more of them are more to send."""

    def servers(self, replicas: int) -> int:
        return max(1, replicas // 8)

    def machines(self, replicas: int) -> int:
        return replicas + self.servers(replicas) + 1

    def recipe(self, value: float, replicas: int, seed: int) -> Sandblaster:
        portions = max(32, 2 * replicas)
        return Sandblaster(
            int(value), portions, shards=self.servers(replicas), rounds=ROUNDS, evaluate_every=1, seed=seed
        )


ALONE = Alone("SGD, one machine", "rate", (0.02, 0.05, 0.1, 0.2, 0.5))
GRAPHICS = Alone(f"SGD, a machine {CARD:g} times as fast", "rate", ALONE.tried, speed=CARD)
DOWNPOUR = Pour("Downpour", "rate", ALONE.tried)
ADAGRAD = Pour("Downpour + Adagrad", "rate", (0.005, 0.01, 0.02, 0.05, 0.1), adagrad=True)
SANDBLASTER = Sand("Sandblaster L-BFGS", "history", (2, 5, 10, 20, 40), scales=False)
METHODS = (ALONE, GRAPHICS, DOWNPOUR, ADAGRAD, SANDBLASTER)
