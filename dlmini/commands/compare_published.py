"""`dlmini compare --as-published`: the document's own algorithms, and ours beside them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import typer

from dlmini.commands.compare_runs import contents, run_tables
from dlmini.studies.published_levels.description import BATCH, EPOCHS, RATE, THRESHOLD, ten_as_published
from dlmini.studies.published_levels.readings import Reading, read_reading
from dlmini.terminal import console, say, write_results

__all__ = ["BATCH", "EPOCHS", "RATE", "THRESHOLD"]


class Asked(NamedTuple):
    """How the document is read; rate and threshold are of its loss."""

    reading: Reading
    rate: float
    threshold: float


def read_asked(reading: str, threshold: float | None, rate: float | None) -> Asked:
    return Asked(read_reading(reading), RATE if rate is None else rate, THRESHOLD if threshold is None else threshold)


def demand_batches(net, sets, batch: int, workers: int) -> None:
    """That each of so many workers gets one: said before the runs with fewer workers, which may take hours."""
    from dlmini.studies.published_levels.dealing import Dealt

    Dealt(net, *sets, batch).per_epoch(workers)


def two_tables(net, sets, batch, told: str, epochs: int, asked: Asked, only: str, place, repeat: int, out) -> None:
    """Both tens on one place, one after the other; then side by side."""
    from rich.markdown import Markdown

    from dlmini.studies.published_levels import side_by_side
    from dlmini.studies.published_levels.dealing import Dealt

    dealt = Dealt(net, *sets, batch, loss=asked.reading.loss)
    per_epoch = dealt.per_epoch(place.size)
    conditions = (
        f"{place.size} workers · {told.partition(' · ')[0]} · {epochs} epochs of {per_epoch} steps of {batch} images "
        f"each · rate {asked.rate:g} of a {asked.reading.loss} · {told.partition(' · ')[2]}"
    )
    says = f"as published: {asked.reading}, threshold {asked.threshold:g} · {conditions}"
    tables = published_tables(epochs * per_epoch, per_epoch, asked, only, repeat)
    theirs, says, whole = run_tables(dealt, tables, place, per_epoch, says)
    found = {"as_published": ([row for row, _ in theirs], says)}
    if whole:
        task, tables = side_by_side.ours(dealt, epochs * per_epoch, asked.rate, only, repeat)
        ours, says, whole = run_tables(task, tables, place, per_epoch, f"ours: {conditions}")
        found["ours"] = [row for row, _ in ours], says
        page = side_by_side.table(found["as_published"][0], found["ours"][0])
        console.print(Markdown(page))
    if out:
        write_results(out, partial(write, found), "tables and figures")
    if not whole:
        say("run it again for the rest")
        raise typer.Exit(130)


def published_tables(rounds: int, per_epoch: int, asked: Asked, only: str, repeat: int) -> list[dict]:
    from dlmini import command_words as words

    if asked.reading.mixed == "weights" and not only:
        raise ValueError(
            "--reading mixed=weights sends weights, and a threshold is of gradients: leave configurations 6 and 9 out, "
            "--only 1,2,3,4,5,7,8,10"
        )
    wanted = [int(number) for number in only.split(",")] if only else range(1, 11)
    each = (
        ten_as_published(rounds, asked.rate, asked.threshold, asked.reading, per_epoch, seed, wanted)
        for seed in range(repeat)
    )
    return [words.picked(table, only) for table in each]


def write(found: dict, out: Path) -> Path:
    """Every file of both tables in one new folder, their names before them; and the page of both."""
    from dlmini import files
    from dlmini.studies.published_levels import side_by_side

    parts = {f"{name}_{file}": do for name, (rows, says) in found.items() for file, do in contents(rows, says).items()}
    if len(found) == 2:
        page = side_by_side.page(found)
        parts["side_by_side.md"] = lambda stream: stream.write(page.encode())
    return files.write_folder(out, parts)
