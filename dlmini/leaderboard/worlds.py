"""Worlds drawn from a secret: nobody who writes an entry has seen their networks, their data or their failures.

Everything follows from (secret, number), so a world can be drawn again. Labels are renamed and images turned, widths
and first weights are drawn, and so is the order in which an entry is shown the numbers of an update: what it may have
learned beforehand is of no use to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dlmini.comm.network import Link, Medium, Switch
from dlmini.data import Dataset, load
from dlmini.leaderboard.terms import Terms
from dlmini.nn import Conv2d, Dense, Flatten, MaxPool, Model, ReLU
from dlmini.sim.cluster import Cluster
from dlmini.task import Classify

KINDS = ("cable", "air", "home", "failing")
TRAIN, TEST, BATCH, STEPS, FLOPS = 6000, 1500, 20, 160, 11.4e9


@dataclass(frozen=True, eq=False)
class World:
    """kind: what sort of network; seed: of first weights, data and ties; on: its machines.

    order: in which an entry is shown the numbers of an update; nobody can tell which weight a number belongs to.
    """

    kind: str
    seed: int
    terms: Terms
    task: Classify
    on: Cluster
    order: np.ndarray


def draw(secret: bytes, count: int = len(KINDS), steps: int = STEPS) -> list[World]:
    """So many worlds, one kind after another; steps: of a worker, with a budget to match."""
    return [world(KINDS[number % len(KINDS)], coin_of(secret, number), steps) for number in range(count)]


def coin_of(secret: bytes, number: int) -> np.random.Generator:
    return np.random.default_rng([int.from_bytes(secret, "little"), number])


def world(kind: str, coin: np.random.Generator, steps: int = STEPS) -> World:
    seed, workers = int(coin.integers(2**31)), int(coin.integers(6, 11))
    task = Classify(network(coin), *renamed(coin), batch=BATCH)
    link, shared = wires(kind, coin)
    step, whole = task.flops / FLOPS, 4.0 * task.size
    plain = steps * 2 * (workers - 1) * whole  # bytes of summing every gradient
    seconds = steps * step * float(coin.uniform(1.3, 2.0))
    megabytes = plain * float(coin.uniform(0.03, 0.15)) / 1e6
    hour, gigabyte = float(coin.uniform(0.5, 3.0)), float(coin.uniform(0.02, 0.2))
    terms = Terms(
        workers=workers,
        numbers=task.size,
        steps=steps,
        batch=BATCH,
        step_seconds=step,
        latency=link.latency,
        bandwidth=link.bandwidth,
        upload=link.upload or link.bandwidth,
        shared=shared,
        seconds=seconds,
        megabytes=megabytes,
        money=0.0,
        machine_hour=hour,
        gigabyte=gigabyte,
        failures=kind == "failing",
    )
    money = terms.price(workers, seconds, 1e6 * megabytes) * float(coin.uniform(0.85, 1.1))
    wire = Medium(link) if shared else Switch(link)
    on = replace(machines(kind, wire, coin, workers, seconds), flops=FLOPS)
    return World(kind, seed, replace(terms, money=money), task, on, coin.permutation(task.size))


def network(coin) -> Model:
    """Two convolutions and a dense layer, of widths that are drawn."""
    first, second, units = (int(coin.integers(*span)) for span in ((6, 13), (12, 21), (40, 73)))
    return Model(
        [
            *(Conv2d(first, 5), ReLU(), MaxPool(2), Conv2d(second, 5), ReLU(), MaxPool(2)),
            *(Flatten(), Dense(units), ReLU(), Dense(10)),
        ],
        input=(28, 28, 1),
    )


@cache
def bundled() -> tuple[Dataset, Dataset]:
    return load("fashion-mnist")


def renamed(coin) -> list[Dataset]:
    """Rows of the training and test set, their labels renamed and their images turned, all alike."""
    names, flip, turn = coin.permutation(10).astype(np.uint8), bool(coin.integers(2)), int(coin.integers(4))
    found = []
    for rows, count in zip(bundled(), (TRAIN, TEST), strict=True):
        some = rows.subset(coin.choice(len(rows), count, replace=False))
        x = np.rot90(some.x[:, :, ::-1] if flip else some.x, turn, axes=(1, 2))
        found.append(replace(some, x=np.ascontiguousarray(x), y=names[some.y].astype(some.y.dtype)))
    return found


def wires(kind: str, coin) -> tuple[Link, bool]:
    """(a cable, or the channel; whether it is shared)."""
    if kind == "air":
        return Link(float(coin.uniform(1e-3, 3e-3)), float(coin.uniform(5e6, 20e6))), True
    if kind == "home":
        down = float(coin.uniform(6e6, 20e6))
        return Link(float(coin.uniform(5e-3, 2e-2)), down, down / float(coin.integers(3, 9))), False
    return Link(float(coin.uniform(5e-5, 2e-4)), float(coin.uniform(10e6, 60e6))), False


def machines(kind: str, wire, coin, workers: int, seconds: float) -> Cluster:
    """Equal machines are never quite equal; where they fail, one is slow and one dies. Never worker 0."""
    if kind != "failing":
        return Cluster(wire, jitter=0.1)
    slow, dead = (int(rank) for rank in 1 + coin.permutation(workers - 1)[:2])
    when = seconds * float(coin.uniform(0.3, 0.6))
    return Cluster(wire, jitter=0.1, speed={slow: float(coin.uniform(0.3, 0.6))}, crash={dead: when})
