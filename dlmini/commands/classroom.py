"""`dlmini classroom`: six classroom computers train a U-Net, in three worlds, beside what was published."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from dlmini.commands.progress import ended_early, refuse_ignored, some_of
from dlmini.terminal import console, say, write_results

SIMULATED = "of the simulated world: times, ways, mistakes, batches, computers, packets; several with commas; or all"


def classroom(
    context: typer.Context,
    world: Annotated[str, typer.Option(help="reckoned, simulated, real; several with commas; or all")] = "reckoned",
    long: Annotated[bool, typer.Option(help="the whole U-Net on 128 x 128 tiles, three seeds: hours")] = False,
    out: Annotated[Path | None, typer.Option(help="write tables and figures to this new folder")] = None,
    crew: Annotated[int, typer.Option(min=0, help="simulated trainings at a time; 0: one per core")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="simulated trainings of each kind")] = 3,
    part: Annotated[str, typer.Option(help=SIMULATED)] = "all",
    keep: Annotated[Path | None, typer.Option(help="finished trainings are kept here, and not done again")] = None,
) -> None:
    """Repeat the classroom experiment of Krivosheev, Kuznetsov and Spitsyn, and set ours beside theirs.

    reckoned: seconds by formula, at once. simulated: real training on simulated computers, an hour or less.
    real: Open MPI between network namespaces at 1 Gbit/s, for root only, a few minutes.
    """
    from dlmini import files
    from dlmini.studies.classroom import report
    from dlmini.studies.classroom.learning import LONG, SHORT
    from dlmini.studies.classroom.study import PARTS, WORLDS, study

    worlds, parts = some_of("world", world, WORLDS), some_of("part", part, PARTS)
    if part != "all" and "simulated" not in worlds:
        raise ValueError(f"--part {part} is a part of the simulated world: add --world simulated")
    if "simulated" not in worlds:
        refuse_ignored(context, ("long", "crew", "seeds", "keep"), "nothing is trained, so {}; add --world simulated")
    if keep is not None and not keep.is_dir():
        files.demand_new(keep)
    if out is not None:
        files.demand_new(out)
    began = time.perf_counter()
    form = replace(LONG if long else SHORT, seeds=tuple(range(seeds)))
    found = report.Found(form)
    early = ended_early(lambda: study(form, worlds, crew or os.cpu_count() or 1, say, keep, parts, found))
    if early and not (found.real or found.cable or found.ways):
        raise KeyboardInterrupt
    display(report.text(found))
    if out is not None:
        write_results(out, partial(report.write, found), "tables and figures")
    say(f"done in {time.perf_counter() - began:.0f} s")
    if early:
        say("stopped by hand: what was done until then is above")
        raise typer.Exit(130)


def display(text: str, wide: int = 150) -> None:
    """Tables; where they would be cut off, as they are written."""
    if console.width >= wide:
        console.print(Markdown(text))
    else:
        console.print(text, markup=False, highlight=False, soft_wrap=True)
