"""`dlmini compare`: the ten configurations of Tolstobrov 2022, their table and their figures, by one command."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dlmini.terminal import line, say, table

MODELS = "softmax_regression, mlp, lenet, cifar_net or volunteer_net"

# One number is calibrated. The publication finds training 2-3 times faster in configuration 9, whose communication is
# 40 times shorter; so in configuration 1 the share s of synchronisation obeys 1 / (1 - s + s/40) = 2.5, s = 0.615.
# Sixty machines of this speed on gigabit Ethernet (lenet, 20 images a step) have that share.
FLOPS = 11.4e9
JITTER = 0.1  # equal machines are never quite equal; an assumption


def compare(
    only: Annotated[str, typer.Option(help="numbers of configurations, such as 1,9; all by default")] = "",
    workers: Annotated[str, typer.Option(help="how many; several counts, such as 16,60, one after another")] = "16",
    model: Annotated[str, typer.Option(help=MODELS)] = "lenet",
    data: Annotated[str, typer.Option(help="fashion-mnist, mnist, cifar10 or cifar100")] = "fashion-mnist",
    epochs: Annotated[int, typer.Option(min=1)] = 20,
    batch: Annotated[int, typer.Option(min=1, help="images per worker and step")] = 20,
    rate: Annotated[float, typer.Option(help="of SGD")] = 0.05,
    on: Annotated[str, typer.Option(help="simulated, processes or mpi")] = "simulated",
    network: Annotated[str | None, typer.Option(help="gigabit, wifi, infiniband ...")] = None,
    flops: Annotated[float, typer.Option(help="per second, of a simulated machine")] = FLOPS,
    jitter: Annotated[float, typer.Option(help="relative spread of a simulated machine's compute times")] = JITTER,
    repeat: Annotated[int, typer.Option(min=1, help="with other seeds: mean and spread")] = 1,
    out: Annotated[Path | None, typer.Option(help="write tables and figures to this new folder")] = None,
) -> None:
    """Compare the ten configurations of Tolstobrov 2022 (or some of them) under equal conditions."""
    from dlmini import command_words as words
    from dlmini import files
    from dlmini.data import load
    from dlmini.nn import ZOO
    from dlmini.task import Classify

    counts = numbers(workers)
    if out:
        files.demand_new(out)
    sets = load(data)
    net = words.choose("model", model, ZOO)(input=sets[0].shape, classes=len(sets[0].classes))
    task = Classify(net, *sets, batch)
    for count in counts:
        place = words.read_place(on, count, network)
        if on == "simulated":
            place = machines(place, flops, jitter)
        folder = out if out is None or len(counts) == 1 else out / f"{count}_workers"
        one_table(task, model, epochs, rate, only, place, repeat, folder)


def one_table(task, model: str, epochs: int, rate: float, only: str, place, repeat: int, out: Path | None) -> None:
    """Every configuration, `repeat` times, on one place; the table on the screen and in `out`."""
    from dlmini import command_words as words
    from dlmini import configurations, optim

    per_epoch = max(1.0, len(task.train) / place.size / task.batch)
    steps = configurations.whole_rounds(epochs * per_epoch)
    conditions = (
        f"{place.size} workers · {model} on {task.train.name.removesuffix('/train')} · {steps} steps "
        f"({steps / per_epoch:.1f} epochs) of {task.batch} images each · SGD({rate}) · {place!r}"
    )
    say(conditions)
    began, tables, virtual = time.perf_counter(), [], hasattr(place, "cluster")
    for seed in range(repeat):
        recipes = words.picked(configurations.ten(steps, optim.SGD(rate), looks=20, seed=seed), only)
        crew = min(len(recipes), os.cpu_count() or 1) if virtual else 1
        tables.append(configurations.compare(task, recipes, place, lambda row: say(line(row)), per_epoch, crew))
    rows = configurations.averaged(tables)
    table(rows)
    say(f"compared in {time.perf_counter() - began:.0f} s")
    if out:
        keep([row for row, _ in rows], conditions, out)
        say(f"tables and figures written to {out}")


def keep(rows: list, conditions: str, out: Path) -> None:
    """table.csv, curves.csv, table.md and the figures, in a new folder."""
    from dlmini import configurations, files, show
    from dlmini.studies import claims

    out.mkdir(parents=True)
    configurations.write_csv(rows, out / "table.csv")
    parts = ("# The ten configurations", conditions, claims.table(rows), "## Beside the publication", claims.__doc__)
    parts += (claims.beside(rows), claims.READING)
    files.write_text(out / "table.md", "\n\n".join(parts))
    curves = {row.label: row.curve for row in rows}
    both = ("communication", "synchronisation")
    figures = {
        "accuracy": show.curves(curves, by="epochs", what=("accuracy",), colours=3),
        "time_split": show.time_split(rows),
        "communication_speedup": show.speed_up(
            rows, both, claims.BANDS, "Communication: times less than configuration 1"
        ),
        "pareto": show.pareto(rows, cost="seconds"),
    }
    for name, figure in figures.items():
        files.write(out / f"{name}.png", partial(figure.savefig, format="png"))


def machines(place, flops: float, jitter: float):
    """The same simulated ranks, on machines of this speed."""
    from dataclasses import replace

    from dlmini.sim import Cluster

    return replace(place, cluster=replace(Cluster.of(place.cluster), flops=flops, jitter=jitter))


def numbers(text: str) -> list[int]:
    try:
        counts = [int(word) for word in text.split(",")]
    except ValueError:
        raise ValueError(f"--workers {text}: give a number, or several such as 16,60") from None
    if min(counts) < 1:
        raise ValueError(f"--workers {text}: there must be at least one")
    return counts
