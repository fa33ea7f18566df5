"""What a rank leaves behind, and all ranks' reports as the Results of a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dlmini.comm.launch import Results
from dlmini.comm.ledger import Entry
from dlmini.comm.real_transports import unreceived
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
        raise unreceived(report.unread for report in reports)
    return Results(
        [report.value for report in reports],
        [entry for report in reports for entry in report.entries],
        [report.phases for report in reports],
        max(report.seconds for report in reports),
        events,
    )
