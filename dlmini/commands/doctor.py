"""`dlmini doctor`: a table of what this machine is fit for, and how to mend what it is not."""

from __future__ import annotations

import time

import typer
from rich.markup import escape
from rich.table import Table

from dlmini.doctor.finding import BROKEN, GOOD, WARNING, Finding
from dlmini.terminal import console, say

COLOURS = {GOOD: "green", WARNING: "yellow", BROKEN: "red"}


def doctor() -> None:
    """Look over this machine before class. Exit code 1 if something is broken; warnings do not count."""
    from dlmini.doctor.visit import ill, visit

    began = time.perf_counter()
    with console.status("looking"):
        findings = visit()
    console.print(table(findings))
    verdict = "[red]Mend what is broken[/red]" if ill(findings) else "Lessons will run"
    say(f"{verdict}. ({time.perf_counter() - began:.1f} s)")
    if ill(findings):
        raise typer.Exit(1)


def table(findings: list[Finding]) -> Table:
    view = Table("check", "status", "found", "what to do")
    for finding in findings:
        colour = COLOURS[finding.status]
        view.add_row(finding.check, f"[{colour}]{finding.status}[/]", escape(finding.found), escape(finding.fix))
    return view
