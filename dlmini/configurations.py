"""The ten configurations of Tolstobrov 2022, and any others, compared under equal conditions.

Local-SGD with period 1, 4 and 16, each with all-reduce, with gossip, and with gossip and sparsification (95 % of the
components dropped); and Local-SGD(32) with all-reduce. Every configuration takes the same number of steps.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

from dlmini.compression import None_, Threshold
from dlmini.crew import worked_off
from dlmini.files import write_text
from dlmini.outcome import Outcome
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sync import LocalSGD
from dlmini.topology import AllReduce, Gossip

KEPT = 0.05
LONGEST = 32  # steps between two exchanges of configuration 10

# One number is calibrated. The publication finds training 2-3 times faster in configuration 9, whose communication is
# 40 times shorter; so in configuration 1 the share s of synchronisation obeys 1 / (1 - s + s/40) = 2.5, s = 0.615.
# Sixty machines of this speed on gigabit Ethernet (lenet, 20 images a step) have that share.
FLOPS = 11.4e9
JITTER = 0.1  # equal machines are never quite equal; an assumption
LOOK = 0.2  # seconds between two questions how far a run is


def ten(steps: int, optimizer, looks: int = 8, seed: int = 0) -> dict[int, Recipe]:
    """The configurations by number, 1 to 10, each of `steps` steps per worker (take a multiple of 32)."""
    sparse = {"topology": Gossip(), "compression": Threshold(keep=KEPT)}
    ways = [{"topology": AllReduce()}, {"topology": Gossip()}, sparse]
    choices = [(period, way) for period in (1, 4, 16) for way in ways] + [(LONGEST, ways[0])]
    recipes = {}
    for number, (period, way) in enumerate(choices, 1):
        rounds = max(1, steps // period)
        look = max(1, rounds // looks)
        terms = {"optimizer": optimizer, "rounds": rounds, "evaluate_every": look, "all_workers": True, "seed": seed}
        recipes[number] = Recipe(sync=LocalSGD(period), **terms, **way)
    return recipes


def whole_rounds(steps: float) -> int:
    """The multiple of 32 nearest to `steps`: so every configuration ends with an exchange, at the same step."""
    return LONGEST * max(1, round(steps / LONGEST))


class Point(NamedTuple):
    """A look at the test set."""

    epochs: float
    seconds: float
    loss: float
    accuracy: float


@dataclass(frozen=True)
class Row:
    """One configuration: means over the workers, in seconds of the transport's own time."""

    number: int
    period: int
    topology: str
    compression: str
    accuracy: float
    seconds: float
    compute: float
    communication: float
    waiting: float
    megabytes: float
    messages: int
    curve: tuple[Point, ...] = ()

    @property
    def label(self) -> str:
        brief = "" if self.compression == repr(None_()) else ", " + self.compression.partition("(")[0]
        return f"{self.number}  Local-SGD({self.period}), {self.topology}{brief}"

    @property
    def synchronisation(self) -> float:
        return self.communication + self.waiting


def row_of(number: int, outcome: Outcome, per_epoch: float = 1.0) -> Row:
    """`per_epoch`: steps of a worker in one epoch, for the curve."""
    recipe, ranks = outcome.recipe, outcome.phases

    def share(phase):
        return mean(getattr(phases, phase) for phases in ranks)

    return Row(
        number,
        recipe.sync.steps,
        type(recipe.topology).__name__,
        repr(recipe.compression),
        outcome.accuracy,
        outcome.seconds,
        *map(share, ("compute", "communication", "waiting")),
        outcome.nbytes / 1e6,
        outcome.messages,
        tuple(Point(recipe.steps(0, m.t + 1) / per_epoch, m.at, m.loss, m.accuracy) for m in outcome.measured),
    )


def compare(
    task,
    recipes: dict[int, Recipe],
    on,
    ended: Callable[[Row], None] = lambda row: None,
    per_epoch=1.0,
    crew: int = 1,
    reached: Callable[[int, float], None] = lambda number, share: None,
) -> list[Row]:
    """Run each recipe to its end; `ended` hears of each as it is done, `reached` which share of one is.

    crew: how many to run at a time, each in a process of its own; above 1 only where time is virtual. Who stops it
    (Ctrl-C) has been told all rows that were done.
    """
    numbers, common = list(recipes), (task, recipes, on, per_epoch)
    if crew == 1:
        done = ((i, tried(common, number, partial(reached, number))) for i, number in enumerate(numbers))
    else:
        done = worked_off(tried, common, numbers, crew, lambda i, share: reached(numbers[i], share))
    rows = {}
    for i, row in done:
        rows[numbers[i]] = row
        ended(row)
    return [rows[number] for number in numbers]


def tried(common: tuple, number: int, tell: Callable[[float], None]) -> Row:
    """One configuration, to its end; tells how far it is."""
    task, recipes, on, per_epoch = common
    run = train(task, recipes[number], on)
    while True:
        try:
            return row_of(number, run.result(LOOK), per_epoch)
        except TimeoutError:
            if run.over:  # it has ended just now, or this is its own error
                return row_of(number, run.result(), per_epoch)
            tell((run.latest + 1) / recipes[number].rounds)


def averaged(rows: Iterable[Row]) -> list[tuple[Row, float]]:
    """For each configuration the means over its rows, with the spread (standard deviation) of the accuracy."""
    found: dict[int, list[Row]] = {}
    for row in rows:
        found.setdefault(row.number, []).append(row)
    return [mean_row(found[number]) for number in sorted(found)]


def mean_row(same: list[Row]) -> tuple[Row, float]:
    numbers = {k: mean(getattr(r, k) for r in same) for k, v in asdict(same[0]).items() if isinstance(v, float)}
    looks = zip(*(r.curve for r in same), strict=True)
    curve = tuple(Point(*map(mean, zip(*points, strict=True))) for points in looks)
    spread = stdev(r.accuracy for r in same) if len(same) > 1 else 0.0
    return replace(same[0], **numbers, curve=curve), spread


def write_csv(rows: Iterable[Row], file: Path) -> None:
    """The numbers of each row; and beside `file`, as curves.csv, the looks of each."""
    for text, where in zip(as_csv(rows), (file, file.with_name("curves.csv")), strict=True):
        write_text(where, text)


def as_csv(rows: Iterable[Row]) -> list[str]:
    """Two texts: the numbers of each row, and the looks of each."""
    rows = list(rows)
    plain = [{k: v for k, v in asdict(row).items() if k != "curve"} for row in rows]
    looks = [{"number": row.number, **point._asdict()} for row in rows for point in row.curve]
    return [table_text(plain), table_text(looks)]


def table_text(table: list[dict]) -> str:
    text = StringIO(newline="")
    writer = csv.DictWriter(text, fieldnames=list(table[0]) if table else [])
    writer.writeheader()
    writer.writerows(table)
    return text.getvalue()
