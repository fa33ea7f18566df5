"""`dlmini distbelief`: accuracy against time for four ways to train, on machines that are not equal."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.markdown import Markdown

from dlmini.commands.progress import ended_early, refuse_ignored, some_of
from dlmini.terminal import console, say, write_results


def distbelief(
    context: typer.Context,
    world: Annotated[
        str, typer.Option(help="reckoned, simulated, processes; several with commas; or all")
    ] = "reckoned,simulated",
    long: Annotated[bool, typer.Option(help="a larger network, more machines, three seeds: hours")] = False,
    out: Annotated[Path | None, typer.Option(help="write tables and figures to this new folder")] = None,
    crew: Annotated[int, typer.Option(min=0, help="simulated races at a time; 0: one per core")] = 0,
) -> None:
    """Repeat DistBelief's figure: SGD, Downpour, Downpour with Adagrad, Sandblaster L-BFGS.

    reckoned: one network on several machines, at once. simulated: real training on simulated machines, a few minutes.
    processes: the same programs on processes of this machine, a minute more.
    """
    from dlmini import files
    from dlmini.studies.distbelief import report
    from dlmini.studies.distbelief.methods import LONG, SHORT
    from dlmini.studies.distbelief.study import WORLDS, study

    worlds = some_of("world", world, WORLDS)
    if worlds == ("reckoned",):
        refuse_ignored(context, ("long", "crew"), "reckoning takes no time, so {}; add --world simulated")
    if out is not None:
        files.demand_new(out)
    began = time.perf_counter()
    found = report.Found(LONG if long else SHORT)
    early = ended_early(lambda: study(found.form, worlds, crew or os.cpu_count() or 1, say, found))
    if early and not (found.full or found.choices):
        raise KeyboardInterrupt
    console.print(Markdown(report.text(found)))
    if out is not None:
        write_results(out, partial(report.write, found), "tables and figures")
    say(f"done in {time.perf_counter() - began:.0f} s")
    if early:
        say("stopped by hand: what was done until then is above")
        raise typer.Exit(130)
