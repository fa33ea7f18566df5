"""`AsPublished`: a configuration of the document, in the place of a recipe; and all ten of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from dlmini.checks import piece, real, settle, truth, whole
from dlmini.compression import None_, Threshold
from dlmini.studies.published_levels.algorithms import program
from dlmini.studies.published_levels.readings import Reading
from dlmini.sync import LocalSGD
from dlmini.topology import AllReduce, Gossip

BATCH, EPOCHS, RATE, THRESHOLD = 100, 50, 1e-4, 1.0
PERIODS = (1, 4, 16)
LAST = 32  # the period of configuration 10


@dataclass(frozen=True)
class AsPublished:
    """`rounds` iterations of one of the document's algorithms.

    period: steps between two exchanges; gossips: with two partners, not with everybody; threshold: of what is sent by
    gossip, None sends all of it; rate: of the loss that the task has, a sum or a mean.
    """

    period: int = 1
    gossips: bool = False
    threshold: float | None = None
    rate: float = RATE
    rounds: int = 100
    evaluate_every: int = 0
    seed: int = 0
    reading: Reading = field(default_factory=Reading)
    checkpoint_every: ClassVar[int] = 0
    survives: ClassVar[bool] = False
    beside: ClassVar[int] = 0
    program: ClassVar = staticmethod(program)

    def __post_init__(self):
        piece(self.reading, "reading", ("own", "advance", "mixed"), "a Reading(...)")
        settle(self, period=whole(self.period, "period", 1), rounds=whole(self.rounds, "rounds", 1))
        settle(self, gossips=truth(self.gossips, "gossips"), rate=real(self.rate, "rate", above=0))
        settle(self, evaluate_every=whole(self.evaluate_every, "evaluate_every", 0), seed=whole(self.seed, "seed", 0))
        if self.threshold is not None:
            settle(self, threshold=real(self.threshold, "threshold", least=0))
            if not self.gossips:
                raise ValueError("the document drops small components with gossip alone; give gossips=True with it")
            if self.period > 1 and self.reading.mixed == "weights":
                raise ValueError(
                    f"mixed=weights sends weights, and a threshold of {self.threshold:g} is of gradients: leave "
                    "configurations 6 and 9 out (--only 1,2,3,4,5,7,8,10), or read mixed=sum"
                )

    # ---- for tables ----

    @property
    def sync(self) -> LocalSGD:
        return LocalSGD(self.period, "seed")

    @property
    def topology(self):
        return Gossip() if self.gossips else AllReduce()

    @property
    def compression(self):
        return None_() if self.threshold is None else Threshold(self.threshold)

    def steps(self, first: int, end: int) -> int:
        """Steps of a device in rounds [first, end)."""
        return end - first

    # ---- what a run asks ----

    @property
    def all_workers(self) -> bool:
        return self.reading.tested == "mean"

    def evaluates_after(self, t: int) -> bool:
        return t == self.rounds - 1 or (self.evaluate_every > 0 and (t + 1) % self.evaluate_every == 0)

    def workers(self, size: int) -> int:
        return size

    def keepers(self, size: int) -> range:
        return range(size)

    def check(self, size: int) -> None:
        """Any number of devices will do."""

    def doubts(self, size: int, task=None) -> list[str]:
        return []

    def resumed(self) -> AsPublished:
        return self

    def why_ended(self, results) -> str:
        return ""


def ten_as_published(
    rounds: int,
    rate: float = RATE,
    threshold: float = THRESHOLD,
    reading: Reading | None = None,
    every: int = 0,
    seed: int = 0,
    only: Iterable[int] = range(1, 11),
) -> dict[int, AsPublished]:
    """The configurations by number, or some of them, each of so many iterations; every: iterations of an epoch."""
    common = {"rate": rate, "rounds": rounds, "evaluate_every": every, "seed": seed, "reading": reading or Reading()}
    ways = ({}, {"gossips": True}, {"gossips": True, "threshold": threshold})
    chosen = [(period, way) for period in PERIODS for way in ways] + [(LAST, {})]
    wanted = {n: chosen[n - 1] for n in range(1, 11) if n in only}
    return {n: AsPublished(period, **way, **common) for n, (period, way) in wanted.items()}
