"""The second world, learning: a U-Net on generated tiles, six simulated computers, the document's own protocol.

Gradients go to computer 0 as packets, their mean comes back as one, and everybody steps. What is compared is how
packets are made, what is remembered of what they leave out, and the mistakes of the published program.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import inf
from statistics import mean
from typing import NamedTuple

from dlmini.compression import Deflate, Half, Int8, None_, PerLayer
from dlmini.data import aerial
from dlmini.nn import unet
from dlmini.optim import Adam
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.segment import Segment
from dlmini.sim import Simulated
from dlmini.studies.classroom.published import PCS, TEST, TRAIN
from dlmini.topology import AllReduce, Star


@dataclass(frozen=True)
class Form:
    """How large the experiment is. each: pictures per computer and step; epochs: of six computers, so six passes."""

    side: int
    width: int
    depth: int
    train: int
    test: int
    each: int
    epochs: float
    seeds: tuple[int, ...]
    batches: tuple[int, ...]
    optimizer: object
    scale: float = 2.0  # pixels to a metre

    @property
    def syncs(self) -> int:
        """Synchronisations in an epoch of six computers."""
        return round(self.train / self.each)

    def task(self, batch: int | None = None) -> Segment:
        sets = (aerial(n, self.side, self.scale, seed=seed) for seed, n in enumerate((self.train, self.test)))
        net = unet(self.width, self.depth, input=(self.side, self.side, 3))
        return Segment(net, *sets, batch=batch or self.each)

    def __str__(self) -> str:
        return (
            f"{self.train} tiles to learn from and {self.test} to try, {self.side} x {self.side} pixels; U-Net of "
            f"width {self.width} and depth {self.depth}; {PCS} computers, {self.each} pictures each in a step; "
            f"{self.optimizer!r}; seeds {', '.join(map(str, self.seeds))}"
        )


SHORT = Form(64, 8, 3, 96, 24, 2, 5, (0, 1, 2), (1, 6, 24, 96), Adam(0.005))
LONG = Form(128, 16, 5, TRAIN, TEST, 4, 10, (0, 1, 2), (1, 3, 6, 12, 24, 48, 96), Adam(0.003))


class Look(NamedTuple):
    """A look at the test set."""

    epochs: float
    loss: float
    accuracy: float


@dataclass(frozen=True)
class Learned:
    """What came of one way and seed. packet: bytes of one; nbytes: all that was sent."""

    name: str
    seed: int
    curve: tuple[Look, ...]
    packet: int
    nbytes: int

    @property
    def accuracy(self) -> float:
        """The mean of the last three looks: a single one jumps by a point."""
        return mean(look.accuracy for look in self.curve[-3:])

    def epochs_to(self, accuracy: float = inf, loss: float = -inf) -> float:
        return next((look.epochs for look in self.curve if look.accuracy >= accuracy or look.loss <= loss), inf)


# ---- ways to say a gradient ----


class Way(NamedTuple):
    """How gradients and their mean are said, and whether what is left out is remembered, on both ways."""

    compression: object
    memory: bool = False


WAYS = {
    "float32": Way(None_()),
    "float16": Way(Half()),
    "int8": Way(Int8()),
    "int8 + deflate": Way(Deflate(Int8())),
    "int8, feedback": Way(Int8(), True),
    "21 levels": Way(Int8(10)),
    "21 levels, feedback": Way(Int8(10), True),
    "21 levels, feedback, a scale each": Way(PerLayer(Int8(10)), True),
}


def recipe_of(form: Form, way: Way, seed: int, star: type[Star] = Star, looks: int = 2) -> Recipe:
    """The document's protocol; `looks` at the test set in an epoch."""
    rounds = max(1, round(form.epochs * form.syncs))
    memory = way.memory if way.compression.wants_feedback else None
    terms = {"rounds": rounds, "evaluate_every": max(1, form.syncs // looks), "seed": seed}
    return Recipe(topology=star(way.compression), compression=way.compression, optimizer=form.optimizer,
                  feedback=memory, **terms)  # fmt: skip


def learn(form: Form, name: str, way: Way, seed: int = 0, star: type[Star] = Star) -> Learned:
    """Six computers, one way, one seed."""
    recipe, task = recipe_of(form, way, seed, star), form.task()
    outcome = train(task, recipe, Simulated(PCS)).result()
    curve = tuple(Look((m.t + 1) / form.syncs, m.loss, m.accuracy) for m in outcome.measured)
    packet = max(event.nbytes for event in outcome.events if hasattr(event, "nbytes"))
    return Learned(name, seed, curve, packet, outcome.nbytes)


# ---- the published program's mistakes ----


@dataclass(frozen=True)
class Diluted(Star):
    """A mean that is divided once for every worker: total = (total + packet) / N, again and again.

    The last worker counts 1/N, the one before 1/N^2, ...; all together about 1/(N - 1), and of six workers about 1.4
    contribute: (sum of shares)^2 / sum of squares.
    """

    def shares(self, size: int) -> list[float]:
        return [float(size) ** (max(rank, 1) - size) for rank in range(size)]


MISTAKES = ("21 levels", "one scale", "wrong mean", "no memory")


def program(made: Iterable[str]) -> tuple[Way, type[Star]]:
    """The way and the star of a program with these of the four mistakes."""
    made = {*made}
    codec = Int8(10 if "21 levels" in made else 127)
    way = Way(codec if "one scale" in made else PerLayer(codec), "no memory" not in made)
    return way, Diluted if "wrong mean" in made else Star


def choices(all_of_them: bool = False) -> list[tuple[str, ...]]:
    """None, each alone, the three that round, all four; or every one of the sixteen combinations."""
    if not all_of_them:
        rounding = tuple(one for one in MISTAKES if one != "wrong mean")
        return [(), *((one,) for one in MISTAKES), rounding, MISTAKES]
    ticks = product((False, True), repeat=len(MISTAKES))
    found = [tuple(m for m, ticked in zip(MISTAKES, row, strict=True) if ticked) for row in ticks]
    return sorted(found, key=lambda made: (len(made), [MISTAKES.index(one) for one in made]))


def named(made: tuple[str, ...]) -> str:
    return " + ".join(made) if made else "none"


def learn_with(form: Form, made: tuple[str, ...], seed: int = 0) -> Learned:
    way, star = program(made)
    return learn(form, named(made), way, seed, star)


# ---- one computer, and sizes of mini-batches ----


def alone(form: Form, batch: int, seed: int = 0, name: str = "") -> Learned:
    """One computer; an epoch is one pass over the pictures. It learns as long as six computers do, in pictures seen."""
    steps = max(1, round(form.train / batch))
    rounds = max(1, round(form.epochs * PCS * form.train / batch))
    recipe = Recipe(
        topology=AllReduce(), optimizer=form.optimizer, rounds=rounds, evaluate_every=max(1, steps), seed=seed
    )
    outcome = train(form.task(batch), recipe, Simulated(1)).result()
    curve = tuple(Look((m.t + 1) * batch / form.train, m.loss, m.accuracy) for m in outcome.measured)
    return Learned(name or f"batch {batch}", seed, curve, 0, 0)
