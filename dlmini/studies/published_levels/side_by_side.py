"""Both tens under equal conditions: as published, and ours; and what each switch of a reading changes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from dlmini.configurations import Row, compare, ten, whole_rounds
from dlmini.optim import SGD
from dlmini.studies.published_levels.dealing import Dealt
from dlmini.studies.published_levels.description import RATE, THRESHOLD, ten_as_published
from dlmini.studies.published_levels.readings import CHOICES, Reading
from dlmini.task import Classify

READING = """As published: Algorithms 1 to 3 line by line, a fixed threshold, what is below it is lost, data dealt anew
in every epoch. Ours: steps before the exchange, a threshold that keeps 5 %, what is dropped is said later, data dealt
once, the mean of all workers tried. Batch, rate, number of steps, machines and network are the same."""


def ours(dealt: Dealt, rounds: int, rate: float, only: str = "", repeat: int = 1) -> tuple[Classify, list[dict]]:
    """(the task, a table for each seed): the same data, batch, rate and about the same number of steps."""
    task = Classify(dealt.model, dealt.train, dealt.test, dealt.batch)
    mean_rate = rate * dealt.batch if dealt.loss == "sum" else rate
    numbers = [int(number) for number in only.split(",")] if only else range(1, 11)
    tables = (ten(whole_rounds(rounds), SGD(mean_rate), 20, seed) for seed in range(repeat))
    return task, [{number: table[number] for number in numbers} for table in tables]


def as_published(dealt: Dealt, place, epochs: int, reading: Reading | None = None, only=(), crew: int = 0) -> list[Row]:
    """Rows of the configurations `only`, or of all."""
    per_epoch = dealt.per_epoch(place.size)
    numbers = only or range(1, 11)
    table = ten_as_published(epochs * per_epoch, RATE, THRESHOLD, reading, per_epoch, 0, numbers)
    crew = crew or min(len(table), os.cpu_count() or 1)
    return compare(dealt, table, place, per_epoch=per_epoch, crew=crew)


def other_readings(usual: Reading, switches: Sequence[str] = tuple(CHOICES)) -> dict[str, Reading]:
    """Every reading that differs from the usual one in one switch, by what is different."""
    return {
        f"{name}={choice}": replace(usual, **{name: choice})
        for name in switches
        for choice in CHOICES[name]
        if choice != getattr(usual, name)
    }


def readings_tried(dealt: Dealt, place, epochs: int, numbers: Sequence[int]) -> dict[str, list[Row]]:
    """Rows of these configurations by every other reading; those before them where weights are mixed."""
    per_epoch, jobs = dealt.per_epoch(place.size), {}
    for name, reading in other_readings(Reading()).items():
        tried = [n - 1 for n in numbers if n > 3] if reading.mixed == "weights" else numbers
        table = ten_as_published(epochs * per_epoch, RATE, THRESHOLD, reading, per_epoch, 0, tried)
        jobs |= {(name, n): plan for n, plan in table.items()}
    found: dict[str, list[Row]] = {}
    for loss in CHOICES["loss"]:
        some = {job: plan for job, plan in jobs.items() if plan.reading.loss == loss}
        crew = min(len(some), os.cpu_count() or 1)
        for row in compare(replace(dealt, loss=loss), some, place, per_epoch=per_epoch, crew=crew):
            name, number = row.number
            found.setdefault(name, []).append(replace(row, number=number))
    return found


def table(theirs: Sequence[Row], mine: Sequence[Row]) -> str:
    """In Markdown: accuracy, seconds and megabytes of each configuration, both ways."""
    lines = [
        "| configuration | as published: accuracy | communication s | synchronisation s | in all s | MB "
        "| ours: accuracy | communication s | synchronisation s | in all s | MB |",
        "|---" * 11 + "|",
    ]
    by_number = {row.number: row for row in mine}
    for row in theirs:
        both = [" | ".join(cells(each)) for each in (row, by_number.get(row.number)) if each is not None]
        if len(both) == 2:
            name = row.label.replace(", Threshold", ", threshold")
            lines.append(f"| {name} | {both[0]} | {both[1]} |")
    return "\n".join(lines) + "\n"


def cells(row: Row) -> list[str]:
    seconds = [f"{s:.3f}" for s in (row.communication, row.synchronisation, row.seconds)]
    return [f"{row.accuracy:.1%}", *seconds, f"{row.megabytes:,.1f}"]


def page(found: dict[str, tuple[list[Row], str]]) -> str:
    """found: as_published and ours, each (rows, under which conditions)."""
    (theirs, says), (mine, _) = found["as_published"], found["ours"]
    return "\n\n".join(["# As published, and ours", says, READING, table(theirs, mine)])
