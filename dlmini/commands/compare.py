"""`dlmini compare`: the ten configurations of Tolstobrov 2022, their table and their figures, by one command."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dlmini.commands.progress import Progressing
from dlmini.configurations import FLOPS, JITTER
from dlmini.terminal import console, line, say, table, write_results

MODELS = "softmax_regression, mlp, lenet, cifar_net or volunteer_net"


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
    flops: Annotated[float | None, typer.Option(help=f"per second, of a simulated machine: {FLOPS:g}")] = None,
    jitter: Annotated[float | None, typer.Option(help=f"relative spread of simulated compute times: {JITTER}")] = None,
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
    if on != "simulated" and (flops, jitter) != (None, None):
        raise ValueError(f"--flops and --jitter are of simulated machines, and have no meaning with --on {on}")
    words.picked(dict.fromkeys(range(1, 11)), only)
    sets = load(data)
    net = words.choose("model", model, ZOO)(input=sets[0].shape, classes=len(sets[0].classes))
    task = Classify(net, *sets, batch)
    for count in counts:
        place, where = words.read_place(on, count, network), words.told_place(on, network)
        if on == "simulated":
            speed, uneven = FLOPS if flops is None else flops, JITTER if jitter is None else jitter
            place = machines(place, speed, uneven)
            where += f" · machines of {speed / 1e9:g} GFLOP/s, more or less by {uneven:.0%}"
        folder = out if out is None or len(counts) == 1 else out / f"{count}_workers"
        one_table(task, f"{model} on {data} · {where}", epochs, rate, only, place, repeat, folder)


def one_table(task, told: str, epochs: int, rate: float, only: str, place, repeat: int, out: Path | None) -> None:
    """Every configuration, `repeat` times, on one place; the table on the screen and in `out`. Ctrl-C ends it with
    those that are done."""
    from dlmini import command_words as words
    from dlmini import configurations, optim

    per_epoch = max(1.0, len(task.train) / place.size / task.batch)
    steps = configurations.whole_rounds(epochs * per_epoch)
    conditions = (
        f"{place.size} workers · {told.partition(' · ')[0]} · {steps} steps ({steps / per_epoch:.1f} epochs) of "
        f"{task.batch} images each · SGD, rate {rate:g} · {told.partition(' · ')[2]}"
    )
    say(conditions)
    tables = [words.picked(configurations.ten(steps, optim.SGD(rate), 20, seed), only) for seed in range(repeat)]
    rows, whole = [], False
    at, began = Progressing(sum(map(len, tables))), time.perf_counter()
    with console.status(str(at)) as status, suppress(KeyboardInterrupt):
        for recipes in tables:
            crew = min(len(recipes), os.cpu_count() or 1) if hasattr(place, "cluster") else 1
            compare_one(task, recipes, place, per_epoch, crew, rows, at, status)
        whole = True
    if not rows:
        raise KeyboardInterrupt
    if not whole:
        conditions += f" · stopped by hand after {len(rows)} of {at.jobs} runs"
        say(f"stopped by hand: {len(rows)} of {at.jobs} runs are done, and kept")
    means = configurations.averaged(rows)
    table(means)
    say(f"compared in {time.perf_counter() - began:.0f} s")
    if out:
        write_results(out, partial(write, [row for row, _ in means], conditions), "tables and figures")
    if not whole:
        raise typer.Exit(130)


def compare_one(task, recipes, place, per_epoch, crew, rows: list, at: Progressing, status) -> None:
    """One table; its rows are in `rows` as soon as they are known."""
    from dlmini import configurations

    def ended(row) -> None:
        rows.append(row)
        at.ended(row.number)
        say(f"{line(row)}   ({at.done} of {at.jobs}, {at.to_go()})")

    def reached(number: int, share: float) -> None:
        at.reached(number, share)
        status.update(str(at))

    configurations.compare(task, recipes, place, ended, per_epoch, crew, reached)


def write(rows: list, conditions: str, out: Path) -> Path:
    """table.csv, curves.csv, table.md and the figures, in a new folder: all of them, or none."""
    from dlmini import configurations, files, show
    from dlmini.studies import claims

    parts = ["# The ten configurations", conditions, claims.table(rows)]
    if rows[0].number == 1:  # all comparisons are with the first
        parts += ["## Beside the publication", claims.__doc__, claims.beside(rows), claims.READING]
    texts = dict(zip(("table.csv", "curves.csv"), configurations.as_csv(rows), strict=True))
    texts["table.md"] = "\n\n".join(parts)
    both = ("communication", "synchronisation")
    figures = {
        "accuracy": show.curves({row.label: row.curve for row in rows}, by="epochs", what=("accuracy",), colours=3),
        "time_split": show.time_split(rows),
        "communication_speedup": show.speed_up(
            rows, both, claims.BANDS, "Communication: times less than configuration 1"
        ),
        "pareto": show.pareto(rows, cost="seconds"),
    }
    contents = {name: lambda stream, text=text: stream.write(text.encode()) for name, text in texts.items()}
    contents |= {f"{name}.png": partial(figure.savefig, format="png") for name, figure in figures.items()}
    return files.write_folder(out, contents)


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
    if len({*counts}) < len(counts):
        raise ValueError(f"--workers {text}: one of these numbers stands there twice")
    return counts
