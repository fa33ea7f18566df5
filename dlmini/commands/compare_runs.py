"""Tables of configurations: run with progress on the screen, then written with their figures."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

from dlmini.commands.progress import Progressing
from dlmini.terminal import console, line, say, table


def run_tables(task, tables: list[dict], place, per_epoch: float, conditions: str) -> tuple:
    """(means and spreads, under which conditions, whether all were run); said on the screen meanwhile."""
    from dlmini import configurations

    say(conditions)
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
    return means, conditions, whole


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
    from dlmini import files

    return files.write_folder(out, contents(rows, conditions))


def contents(rows: list, conditions: str) -> dict:
    """What is written of a table: name -> who writes it to a stream."""
    from dlmini import configurations, show
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
    found = {name: lambda stream, text=text: stream.write(text.encode()) for name, text in texts.items()}
    return found | {f"{name}.png": partial(figure.savefig, format="png") for name, figure in figures.items()}
