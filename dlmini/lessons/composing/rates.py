"""Lesson 11: a rate for each plan. `python -m dlmini.lessons.composing.rates FOLDER` trains all, and keeps every run.

The ten configurations, and gossip of weights with one peer (13), get the same small grid of rates and the same seeds,
with equal and with skewed data. A plan's rate is the one with the highest mean accuracy on images held back; the test
images choose nothing. `rates.csv` holds what this command trained; `tuned(kept())` reads it.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

from dlmini.configurations import ten
from dlmini.crew import worked_off
from dlmini.data import load, split_dirichlet, split_iid
from dlmini.files import write_text
from dlmini.lessons.composing.runs import OTHERS, RATE, recipe_of, trained
from dlmini.nn import mlp
from dlmini.optim import SGD
from dlmini.task import Classify

PLANS = (*range(1, 11), 13)  # the ten, and gossip of weights with one peer
RATES = (0.025, 0.05, 0.1, 0.2, 0.4)
SEEDS = 3
STEPS = 256
SPLITS = {"equal": split_iid, "skewed": partial(split_dirichlet, alpha=0.3)}
FILE = Path(__file__).with_name("rates.csv")


class Tried(NamedTuple):
    """One run: per cent right at its end, of the images held back and of the test images; 0 if it broke."""

    data: str
    number: int
    rate: float
    seed: int
    held: float
    test: float


class Tuned(NamedTuple):
    """A plan with its own rate: test accuracies in per cent, one of each seed, at the common rate and at its own."""

    data: str
    number: int
    rate: float
    common: tuple[float, ...]
    own: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.data:6} {self.number:3}: {said(self.common)} at {RATE}, {said(self.own)} at {self.rate}"


def said(values: tuple[float, ...]) -> str:
    """Mean and standard deviation over seeds."""
    return f"{mean(values):.1f} % (± {stdev(values):.1f})"


def recipe(number: int, rate: float, seed: int, steps: int = STEPS):
    if number in OTHERS:
        return recipe_of(*OTHERS[number][:3], steps, rate=rate, seed=seed)
    return ten(steps, SGD(rate), seed=seed)[number]


def one(sets: tuple, job: tuple, _tell) -> Tried:
    """sets: images to learn from, those held back, those of the test."""
    (learn, held, test), (seed, data, number, rate) = sets, job
    task = Classify(mlp((32,)), learn, held, batch=20, split=SPLITS[data])
    try:
        run = trained(task, recipe(number, rate, seed), number)
    except FloatingPointError:  # the loss left all bounds: such a rate is never chosen
        return Tried(data, number, rate, seed, 0.0, 0.0)
    tested = Classify(task.model, learn, test, batch=20).evaluate(run.weights)["accuracy"]
    return Tried(data, number, rate, seed, round(100 * run.row.accuracy, 2), round(100 * tested, 2))


def images() -> tuple:
    """Those of the lesson: 8,000 to learn from, 2,000 held back, and the test images."""
    train_set, test_set = load("fashion-mnist")
    return train_set.subset(range(8000)), train_set.subset(range(8000, 10_000)), test_set


def tried_all(hands: int = 2) -> Iterable[Tried]:
    jobs = list(product(range(SEEDS), SPLITS, PLANS, RATES))
    return (run for _, run in worked_off(one, images(), jobs, hands))


def kept(file: Path = FILE) -> list[Tried]:
    with file.open(newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    return [Tried(data, int(n), float(rate), int(seed), float(h), float(t)) for data, n, rate, seed, h, t in rows]


def keep(runs: Iterable[Tried], file: Path) -> None:
    lines = [",".join(map(str, row)) for row in (Tried._fields, *sorted(runs))]
    write_text(file, "\n".join([*lines, ""]))


def tuned(runs: Iterable[Tried]) -> list[Tuned]:
    """The rate that each plan chooses by the images held back, and what the test images say then."""
    found: dict[tuple[str, int], dict[float, list[Tried]]] = {}
    for run in sorted(runs):
        found.setdefault((run.data, run.number), {}).setdefault(run.rate, []).append(run)
    return [chosen(*plan, by_rate) for plan, by_rate in found.items()]


def chosen(data: str, number: int, by_rate: dict[float, list[Tried]]) -> Tuned:
    rate = max(by_rate, key=lambda rate: mean(run.held for run in by_rate[rate]))
    common, own = (tuple(run.test for run in by_rate[r]) for r in (RATE, rate))
    return Tuned(data, number, rate, common, own)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    runs = []
    for run in tried_all():
        runs.append(run)
        print(*run, flush=True)
    keep(runs, folder / FILE.name)
    print(*tuned(runs), sep="\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("say where to: python -m dlmini.lessons.composing.rates FOLDER")
    main(Path(sys.argv[1]))
