"""The ten configurations of Tolstobrov 2022, and any others, compared under equal conditions.

Local-SGD with period 1, 4 and 16, each with all-reduce, with gossip, and with gossip and sparsification (95 % of the
components dropped); and Local-SGD(32) with all-reduce. Every configuration takes the same number of steps.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from io import StringIO
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

from dlmini.compression import None_, Threshold
from dlmini.files import write_text
from dlmini.outcome import Outcome
from dlmini.recipe import Recipe
from dlmini.run import train
from dlmini.sync import LocalSGD
from dlmini.topology import AllReduce, Gossip

KEPT = 0.05
LONGEST = 32  # steps between two exchanges of configuration 10


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
    steps = recipe.sync.steps

    def share(phase):
        return mean(getattr(phases, phase) for phases in ranks)

    return Row(
        number,
        steps,
        type(recipe.topology).__name__,
        repr(recipe.compression),
        outcome.accuracy,
        outcome.seconds,
        *map(share, ("compute", "communication", "waiting")),
        outcome.nbytes / 1e6,
        outcome.messages,
        tuple(Point((m.t + 1) * steps / per_epoch, m.at, m.loss, m.accuracy) for m in outcome.measured),
    )


def compare(
    task, recipes: dict[int, Recipe], on, ended: Callable[[Row], None] = lambda row: None, per_epoch=1.0, crew: int = 1
) -> list[Row]:
    """Run each recipe to its end; `ended` hears of each as it is done.

    crew: how many to run at a time, each in a process of its own; above 1 only where time is virtual.
    """
    jobs = [(task, number, recipe, on, per_epoch) for number, recipe in recipes.items()]
    rows = []
    for row in spread(jobs, crew):
        rows.append(row)
        ended(row)
    return rows


def tried(job: tuple) -> Row:
    task, number, recipe, on, per_epoch = job
    return row_of(number, train(task, recipe, on).result(), per_epoch)


def spread(jobs: list[tuple], crew: int) -> Iterator[Row]:
    """Rows in the order of the jobs."""
    if crew == 1:
        yield from map(tried, jobs)
        return
    with ProcessPoolExecutor(crew, mp_context=get_context("spawn")) as pool:
        yield from pool.map(tried, jobs)


def averaged(tables: list[list[Row]]) -> list[tuple[Row, float]]:
    """Means over repeated tables, with the spread (standard deviation) of the accuracy."""
    out = []
    for same in zip(*tables, strict=True):
        numbers = {k: mean(getattr(r, k) for r in same) for k, v in asdict(same[0]).items() if isinstance(v, float)}
        looks = zip(*(r.curve for r in same), strict=True)
        curve = tuple(Point(*map(mean, zip(*points, strict=True))) for points in looks)
        spread = stdev(r.accuracy for r in same) if len(same) > 1 else 0.0
        out.append((replace(same[0], **numbers, curve=curve), spread))
    return out


def write_csv(rows: Iterable[Row], file: Path) -> None:
    """The numbers of each row; and beside `file`, as curves.csv, the looks of each."""
    plain = [{k: v for k, v in asdict(row).items() if k != "curve"} for row in rows]
    looks = [{"number": row.number, **point._asdict()} for row in rows for point in row.curve]
    for table, where in ((plain, file), (looks, file.with_name("curves.csv"))):
        text = StringIO(newline="")
        writer = csv.DictWriter(text, fieldnames=list(table[0]) if table else [])
        writer.writeheader()
        writer.writerows(table)
        write_text(where, text.getvalue())
