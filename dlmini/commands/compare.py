"""`dlmini compare`: the ten configurations of Tolstobrov 2022, their table and their figures, by one command."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from dlmini.commands import compare_published as published
from dlmini.commands.compare_asked import check_asked, network_and_data, numbers, place_of
from dlmini.commands.compare_runs import run_tables, write
from dlmini.configurations import FLOPS, JITTER
from dlmini.terminal import write_results

MODELS = "softmax_regression, mlp, lenet, cifar_net or volunteer_net"
EPOCHS, BATCH, RATE = 20, 20, 0.05


def compare(
    only: Annotated[str, typer.Option(help="numbers of configurations, such as 1,9; all by default")] = "",
    workers: Annotated[str, typer.Option(help="how many; several counts, such as 16,60, one after another")] = "16",
    model: Annotated[str | None, typer.Option(help=f"{MODELS}; lenet, with --cifar cifar_net")] = None,
    data: Annotated[str | None, typer.Option(help="fashion-mnist, mnist, cifar10 or cifar100")] = None,
    cifar: Annotated[Path | None, typer.Option(help="your CIFAR-10 or CIFAR-100: folder or archive")] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help=f"{EPOCHS}; as published {published.EPOCHS}")] = None,
    batch: Annotated[int | None, typer.Option(min=1, help=f"images of a step: {BATCH}; {published.BATCH}")] = None,
    rate: Annotated[float | None, typer.Option(help=f"of SGD: {RATE}; of a summed loss {published.RATE:g}")] = None,
    on: Annotated[str, typer.Option(help="simulated, processes or mpi")] = "simulated",
    network: Annotated[str | None, typer.Option(help="gigabit, wifi, infiniband ...")] = None,
    cluster: Annotated[str | None, typer.Option(help="machines shaped like polus or lomonosov2")] = None,
    flops: Annotated[float | None, typer.Option(help=f"per second, of a simulated machine: {FLOPS:g}")] = None,
    jitter: Annotated[float | None, typer.Option(help=f"relative spread of simulated compute times: {JITTER}")] = None,
    repeat: Annotated[int, typer.Option(min=1, help="with other seeds: mean and spread")] = 1,
    as_published: Annotated[
        bool, typer.Option("--as-published", help="the document's algorithms, ours beside")
    ] = False,
    reading: Annotated[str, typer.Option(help="of what it leaves open, such as own=whole,tested=mean")] = "",
    threshold: Annotated[float | None, typer.Option(help=f"as published: {published.THRESHOLD:g}")] = None,
    out: Annotated[Path | None, typer.Option(help="write tables and figures to this new folder")] = None,
) -> None:
    """Compare the ten configurations of Tolstobrov 2022 (or some of them) under equal conditions."""
    from dlmini import command_words as words
    from dlmini import files

    counts = numbers(workers)
    if out:
        files.demand_new(out)
    check_asked(on, network, cluster, flops, jitter, data, cifar, as_published, reading, threshold)
    words.picked(dict.fromkeys(range(1, 11)), only)
    asked = published.read_asked(reading, threshold, rate) if as_published else None
    usual = (published.EPOCHS, published.BATCH) if as_published else (EPOCHS, BATCH)
    epochs, batch = epochs or usual[0], batch or usual[1]
    net, sets, named = network_and_data(model, data, cifar)
    places = [place_of(on, count, network, cluster, flops, jitter) for count in counts]
    if asked is not None:
        published.demand_batches(net, sets, batch, max(counts))
    else:
        demand_batches(len(sets[0]), batch, max(counts))
    for count, (place, where) in zip(counts, places, strict=True):
        folder = out if out is None or len(counts) == 1 else out / f"{count}_workers"
        if asked is None:
            one_table(
                net,
                sets,
                batch,
                f"{named} · {where}",
                epochs,
                RATE if rate is None else rate,
                only,
                place,
                repeat,
                folder,
            )
        else:
            published.two_tables(net, sets, batch, f"{named} · {where}", epochs, asked, only, place, repeat, folder)


def demand_batches(images: int, batch: int, workers: int) -> None:
    """That each of so many workers has a batch of its own: a smaller one would be priced as a whole one."""
    if batch > images // workers > 0:
        shared = f" are {images // workers} for each of {workers} workers" if workers > 1 else " are all there are"
        fewer = ", or fewer workers" if workers > 1 else ""
        raise ValueError(f"--batch {batch}: {images} images{shared}; give at most so many{fewer}")


def one_table(net, sets, batch, told: str, epochs: int, rate: float, only: str, place, repeat: int, out) -> None:
    """Every configuration, `repeat` times, on one place; the table on the screen and in `out`. Ctrl-C ends it with
    those that are done."""
    from dlmini import command_words as words
    from dlmini import configurations, optim
    from dlmini.task import Classify

    task = Classify(net, *sets, batch)
    per_epoch = max(1.0, len(task.train) / place.size / task.batch)
    steps = configurations.whole_rounds(epochs * per_epoch)
    conditions = (
        f"{place.size} workers · {told.partition(' · ')[0]} · {steps} steps ({steps / per_epoch:.1f} epochs) of "
        f"{task.batch} images each · SGD, rate {rate:g} · {told.partition(' · ')[2]}"
    )
    tables = [words.picked(configurations.ten(steps, optim.SGD(rate), 20, seed), only) for seed in range(repeat)]
    means, conditions, whole = run_tables(task, tables, place, per_epoch, conditions)
    if out:
        write_results(out, partial(write, [row for row, _ in means], conditions), "tables and figures")
    if not whole:
        raise typer.Exit(130)
