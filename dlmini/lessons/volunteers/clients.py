"""Lesson 15: federations to try: digits in the hands of ten clients who know two of them each, and liars among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from dlmini import profile
from dlmini.data import load, split_by_label, split_iid
from dlmini.federated import FedAvg, Federation, Scaffold, federate
from dlmini.federated.attacks import Alie, LabelFlip, SignFlip
from dlmini.federated.local import Order, local_round
from dlmini.federated.mixed import Mixed
from dlmini.federated.outcomes import trained
from dlmini.federated.robust import GeometricMedian, Krum, Mean, Median, MultiKrum
from dlmini.nn import mlp
from dlmini.sim import Simulated
from dlmini.task import Classify

CLIENTS, RATE = 10, 0.05
SKEWED = partial(split_by_label, shards_per_part=2)


@lru_cache(maxsize=8)
def digits(split=split_iid, rows: int = 2000) -> Classify:
    """The first rows of MNIST and a small network, dealt out by `split`."""
    train, test = load("mnist")
    some = replace(train, x=train.x[:rows], y=train.y[:rows])
    return Classify(mlp(hidden=(32,)), some, test, batch=20, split=split)


@dataclass(frozen=True)
class Learned:
    """Accuracy after each round, 0 first: before any."""

    name: str
    accuracies: tuple[float, ...]

    @property
    def last(self) -> float:
        return float(np.mean(self.accuracies[-3:]))


def federation(strategy=None, **more) -> Federation:
    terms = {"clients": CLIENTS, "share": 1.0, "epochs": 5, "batch": 20, "rate": RATE, "seed": 0}
    return Federation(strategy or FedAvg(), **{**terms, "rounds": profile.pick(30, 3), **more})


def learned(name: str, task: Classify, strategy=None, **more) -> Learned:
    """A federation in virtual time, on four ranks that act as its clients."""
    return Learned(name, tuple(federate(task, federation(strategy, **more), Simulated(5)).accuracies))


def skew(seed: int = 0) -> dict[str, Learned]:
    """The same rows dealt out evenly, and two digits to each client: by FedAvg, and by SCAFFOLD."""
    few = digits(SKEWED, profile.pick(2000, 500))
    found = [
        learned("everybody knows all digits, FedAvg", digits(split_iid, profile.pick(2000, 500)), seed=seed),
        learned("two digits each, FedAvg", few, seed=seed),
        learned("two digits each, SCAFFOLD", few, Scaffold(RATE, CLIENTS), seed=seed),
    ]
    return {one.name: one for one in found}


def mixed(shares=(0.0, 0.02, 0.1), seed: int = 0) -> dict[str, Learned]:
    """Two digits each, and so many of all rows beside them that everybody has."""
    rows = profile.pick(2000, 500)
    tasks = {f"{share:.0%} of all rows shared": digits(Mixed(SKEWED, share), rows) for share in shares}
    return {name: learned(name, task, seed=seed) for name, task in tasks.items()}


def among_liars(liars: int = 2) -> dict[str, dict[str, float]]:
    """rule -> attack -> accuracy: ten clients with all digits, two of whom lie for eight rounds."""
    task, few = digits(split_iid, profile.pick(2000, 300)), profile.pick(8, 1)
    wanted = federation(epochs=2, rounds=few, liars=liars, attack=LabelFlip())
    chosen = [Mean(), Median(liars), Krum(liars), MultiKrum(liars), GeometricMedian(liars)]
    attacks = {"sign flip x10": SignFlip(10.0), "ALIE, z = 1.5": Alie(1.5), "label flip": LabelFlip()}
    return trained(task, wanted, Simulated(5), chosen, attacks)


def honest_changes(split=split_iid, clients: int = 16, seed: int = 0) -> np.ndarray:
    """What honest clients send in the first round: a row each."""
    task = digits(split, profile.pick(2000, 640))
    w, parts = task.initial(seed), task.split(task.train, clients, seed=seed)
    return np.array([local_round(task, w, Order(0, k), parts[k], 1, 20, RATE, seed).change for k in range(clients)])


def with_my_krum(choose, liars: int = 2) -> dict[str, Learned]:
    """Two of ten clients send ten times the opposite: by the mean, and by a student's choice of one update."""
    task, terms = digits(split_iid, profile.pick(2000, 500)), {"liars": liars, "attack": SignFlip(10.0)}
    found = [learned("mean", task, **terms), learned("your krum", task, FedAvg(Chosen(choose, liars)), **terms)]
    return {one.name: one for one in found}


@dataclass(frozen=True)
class Chosen:
    """A student's `krum` as a rule."""

    choose: object
    f: int

    def __call__(self, updates: np.ndarray) -> np.ndarray:
        number = self.choose(updates.astype(np.float64), self.f)
        if number is None:
            raise ValueError(f"krum says that {len(updates)} clients are too few for {self.f} liars: n >= 2f + 3")
        return updates[number].copy()


def library_krum(updates: np.ndarray, f: int) -> int | None:
    rule = Krum(f)
    if len(updates) < rule.least(f):
        return None
    return int(np.flatnonzero((updates == rule(updates)).all(axis=1))[0])


def library_fedavg(w, shards, epochs, batch, rate) -> np.ndarray:
    """The exercise's round, by the pieces of a least-squares gradient."""
    ends = []
    for x, y in shards:
        own = w.copy()
        for low in [*range(0, len(y), batch)] * epochs:
            rows = slice(low, low + batch)
            own = own - rate * x[rows].T @ (x[rows] @ own - y[rows]) / len(y[rows])
        ends.append(own)
    return np.average(ends, axis=0, weights=[len(y) for _, y in shards])
