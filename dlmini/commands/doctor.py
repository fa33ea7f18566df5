"""`dlmini doctor`: a table of what this machine, or several of them, is fit for, and how to mend what it is not."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from dlmini.doctor.finding import BROKEN, GOOD, WARNING, Finding
from dlmini.terminal import console, say

COLOURS = {GOOD: "green", WARNING: "yellow", BROKEN: "red"}


def doctor(
    hosts: Annotated[
        Path | None, typer.Option(help="a host file: look over these machines instead, and every two of them")
    ] = None,
) -> None:
    """Look over this machine before class. Exit code 1 if something is broken; warnings do not count."""
    from dlmini.doctor.visit import ill, visit

    began = time.perf_counter()
    with console.status("looking") as status:
        findings, links = (visit(), []) if hosts is None else several(hosts, status.update)
    console.print(table(findings))
    if links:
        console.print(matrix(links))
    fine = "Lessons will run" if hosts is None else f'Mpi(hosts=Path("{hosts}")) will run'
    verdict = "[red]Mend what is broken[/red]" if ill(findings) else escape(fine)
    say(f"{verdict}. ({time.perf_counter() - began:.1f} s)")
    if ill(findings):
        raise typer.Exit(1)


def several(file: Path, status) -> tuple[list[Finding], list]:
    """The machines of a host file."""
    from dlmini.comm.mpi.host_file import read_hosts
    from dlmini.doctor import hosts

    return hosts.visit(read_hosts(file), status)


def matrix(links: list) -> Table:
    """From each host (rows) to each (columns): latency and bandwidth."""
    from dlmini.doctor.hosts import link_text

    said = {(link.sender, link.receiver): "none" if link.error else link_text(link) for link in links}
    hosts = list(dict.fromkeys(name for link in links for name in (link.sender, link.receiver)))
    view = Table("from \\ to", *map(escape, hosts))
    for sender in hosts:
        view.add_row(escape(sender), *(said.get((sender, receiver), "") for receiver in hosts))
    return view


def table(findings: list[Finding]) -> Table:
    view = Table("check", "status", "found", "what to do")
    for finding in findings:
        colour = COLOURS[finding.status]
        view.add_row(finding.check, f"[{colour}]{finding.status}[/]", escape(finding.found), escape(finding.fix))
    return view
