"""The ten configurations of Tolstobrov 2022, and any others, compared under equal conditions.

Local-SGD with period 1, 4 and 16, each with all-reduce, with gossip, and with gossip and sparsification (95 % of the
components dropped); and Local-SGD(32) with all-reduce. Every configuration takes the same number of steps.
"""

from __future__ import annotations

import csv
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, stdev

from dlmini.compression import Threshold
from dlmini.recipe import Recipe
from dlmini.run import Outcome, train
from dlmini.sync import LocalSGD
from dlmini.topology import AllReduce, Gossip

KEPT = 0.05


def ten(steps: int, optimizer, looks: int = 8, seed: int = 0) -> dict[int, Recipe]:
    """The configurations by number, 1 to 10, each of `steps` steps per worker."""
    sparse = {"topology": Gossip(), "compression": Threshold(keep=KEPT)}
    ways = [{"topology": AllReduce()}, {"topology": Gossip()}, sparse]
    choices = [(period, way) for period in (1, 4, 16) for way in ways] + [(32, ways[0])]
    recipes = {}
    for number, (period, way) in enumerate(choices, 1):
        rounds = max(1, steps // period)
        look = max(1, rounds // looks)
        recipes[number] = Recipe(sync=LocalSGD(period), optimizer=optimizer, rounds=rounds, look=look, seed=seed, **way)
    return recipes


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


def row_of(number: int, outcome: Outcome) -> Row:
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
    )


def compare(task, recipes: dict[int, Recipe], on, ended=lambda row, outcome: None) -> list[Row]:
    """Run each recipe to its end; `ended` hears of each as it is done."""
    rows = []
    for number, recipe in recipes.items():
        outcome = train(task, recipe, on).result()
        rows.append(row_of(number, outcome))
        ended(rows[-1], outcome)
    return rows


def averaged(tables: list[list[Row]]) -> list[tuple[Row, float]]:
    """Means over repeated tables, with the spread (standard deviation) of the accuracy."""
    out = []
    for same in zip(*tables, strict=True):
        numbers = {k: mean(getattr(r, k) for r in same) for k, v in asdict(same[0]).items() if isinstance(v, float)}
        spread = stdev(r.accuracy for r in same) if len(same) > 1 else 0.0
        out.append((Row(**{**asdict(same[0]), **numbers}), spread))
    return out


def write_csv(rows: list[Row], file: Path) -> None:
    with open(file, "w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, fieldnames=list(asdict(rows[0])))
        writer.writeheader()
        writer.writerows(map(asdict, rows))
