"""`python -m dlmini.studies FOLDER`: the race of docs/ten_configurations.md, as a table, and its two pictures.

Eight workers and a server learn MNIST by a small mlp until 90 % of the test images are right. The rates are those at
which each rival was fastest of a few that were tried by hand, on the same test images and with one slow worker: five
for the first two, three for asynchronous, one for Downpour. So read large differences, not small ones.
"""

import sys
from functools import partial
from pathlib import Path
from statistics import mean

from dlmini import files
from dlmini.data import load
from dlmini.nn import mlp
from dlmini.optim import SGD
from dlmini.recipe import Recipe
from dlmini.studies.straggler import picture, straggler
from dlmini.sync import Asynchronous, BulkSynchronous, Downpour, StaleSynchronous
from dlmini.task import Classify
from dlmini.topology import ParameterServer

RIVALS = {
    "BSP": (BulkSynchronous(), 0.4),
    "SSP(3)": (StaleSynchronous(3), 0.07),
    "asynchronous": (Asynchronous(), 0.05),
    "Downpour": (Downpour(fetch=2, push=2), 0.05),
}
TRACKS = {"straggler": {"slower": 5.0}, "straggler_transient": {"slower": 1.0, "jitter": 1.0}}
TARGET, SEEDS = 0.9, 3


def recipes(seed: int) -> dict[str, Recipe]:
    terms = {"topology": ParameterServer(), "rounds": 400, "evaluate_every": 2, "seed": seed}
    return {label: Recipe(sync=sync, optimizer=SGD(rate), **terms) for label, (sync, rate) in RIVALS.items()}


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    task = Classify(mlp(hidden=(64,)), *load("mnist"), batch=20)
    print("| |", *(f" {label} |" for label in RIVALS), "\n|" + "---|" * (1 + len(RIVALS)))
    for name, track in TRACKS.items():
        races = [straggler(task, recipes(seed), TARGET, **track) for seed in range(SEEDS)]
        files.write(folder / f"{name}.png", partial(picture(races[0], TARGET).savefig, format="png"))
        times = zip(*([race.seconds for race in run] for run in races), strict=True)
        print(f"| {name} |", *(f" {mean(t):.2f} ({min(t):.2f}–{max(t):.2f}) |" for t in times))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("say where to: python -m dlmini.studies FOLDER")
    main(Path(sys.argv[1]))
