"""`dlmini reproduce`: every figure of the five source documents beside ours."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from dlmini.commands.progress import some_of
from dlmini.terminal import console, say, write_results


def reproduce(
    only: Annotated[str, typer.Option(help="documents, such as S0,S3; all by default")] = "",
    long: Annotated[bool, typer.Option(help="more epochs and readings: S3 takes an hour")] = False,
    out: Annotated[Path | None, typer.Option(help="write the page to this new file")] = None,
) -> None:
    """Set every figure of the five source documents beside ours: some minutes on two cores."""
    from dlmini import files
    from dlmini.studies.reproduction.report import DOCUMENTS, reproduced, text

    names = some_of("only", only, tuple(DOCUMENTS), everything="")
    if long and "S3" not in names:
        raise ValueError("only S3 has a long form, so --long would have no effect; leave it out, or add S3")
    if out is not None:
        files.demand_new(out)
        files.demand_place(out)
    began, found = time.perf_counter(), {}
    with suppress(KeyboardInterrupt):
        for name in names:
            found |= reproduced([name], long, say)
    if not found:
        raise KeyboardInterrupt
    page = text(found)
    console.print(Markdown(page))
    if out is not None:
        write_results(out, lambda file: files.write_text(file, page), "the page")
    say(f"done in {time.perf_counter() - began:.0f} s")
    if left := [name for name in names if name not in found]:
        say(f"stopped by hand: {', '.join(found)} are done; --only {','.join(left)} makes the rest")
        raise typer.Exit(130)
