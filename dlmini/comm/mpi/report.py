"""What a rank leaves behind, and all ranks' reports as the Results of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dlmini.comm.channels import name_of
from dlmini.comm.errors import Unreceived
from dlmini.comm.launch import Results
from dlmini.comm.ledger import Entry
from dlmini.events import Event, Phases


class Report(NamedTuple):
    value: object
    entries: list[Entry]
    phases: Phases
    seconds: float
    unread: dict[tuple[int, int], int]  # (source, channel): messages


def live(program: Callable, args: tuple, comm) -> Report:
    """The program's whole life on this rank."""
    value = program(comm, *args)
    seconds = comm.now()
    unread = comm.close()
    return Report(value, comm.ledger.entries(), comm.phases, seconds, unread)


def results(reports: list[Report], events: list[Event]) -> Results:
    """Reports in the order of ranks; the run lasted as long as its last rank."""
    if any(report.unread for report in reports):
        raise unreceived(reports)
    return Results(
        [report.value for report in reports],
        [entry for report in reports for entry in report.entries],
        [report.phases for report in reports],
        max(report.seconds for report in reports),
        events,
    )


def unreceived(reports: list[Report]) -> Unreceived:
    messages = [(*key, dest, n) for dest, report in enumerate(reports) for key, n in report.unread.items()]
    text = "; ".join(f"{n} of {name_of(channel)} from rank {s} to rank {d}" for s, channel, d, n in messages)
    return Unreceived(f"all ranks have finished, but messages lie unread: {text}", messages)
