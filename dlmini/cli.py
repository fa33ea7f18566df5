"""The command line: `dlmini lab | update | check | train | compare | classroom | volunteer | plan | doctor | ...`."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

import dlmini
from dlmini.commands.classroom import classroom
from dlmini.commands.compare import MODELS, compare, demand_batches
from dlmini.commands.course import course
from dlmini.commands.distbelief import distbelief
from dlmini.commands.doctor import doctor
from dlmini.commands.grade import check, grade, gradescope_zip
from dlmini.commands.join import join
from dlmini.commands.lab import lab
from dlmini.commands.leaderboard import leaderboard
from dlmini.commands.plan import plan
from dlmini.commands.reproduce import reproduce
from dlmini.commands.tasks import SETS, TILE, task_of
from dlmini.commands.volunteer import volunteer
from dlmini.commands.workspace import show_changes, update
from dlmini.files import demand_new, demand_place
from dlmini.terminal import alone, by_class, console, harmless, say, together, write_results

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
data = typer.Typer(no_args_is_help=True, help="Datasets: what is here, and how to get the rest.")
app.add_typer(data, name="data")
app.add_typer(course, name="course")
app.add_typer(volunteer, name="volunteer")
for command in (
    lab,
    doctor,
    join,
    compare,
    classroom,
    check,
    grade,
    gradescope_zip,
    leaderboard,
    update,
    plan,
    reproduce,
):
    app.command()(command)
app.command()(distbelief)
app.command("changes")(show_changes)


def told_version(wanted: bool) -> None:
    if wanted:
        console.print(f"dlmini {dlmini.__version__}", highlight=False)
        raise typer.Exit


RATES = {"sgd": 0.05, "momentum": 0.02, "nesterov": 0.02, "adagrad": 0.01, "adam": 0.001}  # usual ones


def main() -> None:
    """Run, and turn errors that a person can mend into one sentence."""
    try:
        app()
    except Exception as error:
        if not isinstance(error, mendable()):
            raise
        console.print(f"[red]error:[/red] {escape(harmless(sentence_of(error)))}", highlight=False)
        for note in getattr(error, "__notes__", ()):
            console.print(escape(note), highlight=False)
        raise SystemExit(1) from error


def sentence_of(error: Exception) -> str:
    """What it says; of an error of the system itself, without its number."""
    if isinstance(error, FileExistsError) and error.filename:
        return f"{error.filename} is there already, as a file perhaps where a folder is needed; name another place"
    if isinstance(error, OSError) and error.filename and error.strerror and str(error).startswith("[Errno"):
        return f"{error.filename}: {error.strerror}; check the path"
    if isinstance(error, FileNotFoundError) and is_gone():
        return "the folder in which you are is there no more; change to another one (cd), and try again"
    return str(error) or type(error).__name__


def is_gone() -> bool:
    """Whether the current folder was deleted, or moved, under our feet."""
    try:
        return not os.getcwd()
    except OSError:
        return True


def mendable() -> tuple[type[Exception], ...]:
    """Errors whose sentence says what to do."""
    from dlmini.comm.errors import CommError

    return ValueError, TypeError, OSError, ImportError, FloatingPointError, MemoryError, CommError


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=told_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """dlmini: distributed training of neural networks, small enough to read."""


@app.command()
def train(
    task: Annotated[str, typer.Option(help="classify pictures, or segment: a class for each pixel")] = "classify",
    model: Annotated[str | None, typer.Option(help=f"{MODELS}; by default lenet, for segment unet")] = None,
    data: Annotated[str | None, typer.Option(help=SETS)] = None,
    epochs: Annotated[int, typer.Option(min=1)] = 2,
    until: Annotated[float | None, typer.Option(help="end when so much of the test set is right, such as 0.85")] = None,
    patience: Annotated[int, typer.Option(min=0, help="end when the test error has not fallen for so many epochs")] = 0,
    batch: Annotated[int | None, typer.Option(min=1, help="images per worker and step: 50, for segment 4")] = None,
    optimizer: Annotated[str, typer.Option(help=", ".join(RATES))] = "momentum",
    rate: Annotated[float | None, typer.Option(help="learning rate; by default a usual one")] = None,
    seed: int = 0,
    threads: Annotated[int, typer.Option(min=1, help="threads that share each batch")] = 1,
    full: Annotated[bool, typer.Option(help="the published set, not the bundled part")] = False,
    tile: Annotated[int | None, typer.Option(min=8, help="segment: pixels on a tile's side, by default 128")] = None,
    save: Annotated[Path | None, typer.Option(help="write the weights to this .npz file")] = None,
    workers: Annotated[int, typer.Option(help="more than one: train together")] = 1,
    sync: Annotated[str, typer.Option(help="when to talk: bsp, local:16, async, ssp:3")] = "bsp",
    topology: Annotated[str, typer.Option(help="with whom: allreduce, server:2, gossip:ring")] = "allreduce",
    compress: Annotated[str, typer.Option(help="how briefly: none, int8, topk:0.01, threshold:keep=0.05")] = "none",
    on: Annotated[
        str | None, typer.Option(help="simulated, processes (by default), mpi, mpi:HOSTFILE, classroom:PORT")
    ] = None,
    network: Annotated[str | None, typer.Option(help="gigabit, wifi, infiniband ...")] = None,
    out: Annotated[Path | None, typer.Option(help="write events and summary of a joint run to this new folder")] = None,
) -> None:
    """Train a network, alone or with workers, with a live display."""
    from dlmini import command_words as words

    check_places(save, out)
    check_until(until)
    pieces = words.read_sync(sync), words.read_topology(topology), words.read_compression(compress)
    joint = workers > 1 or task != "classify" or until is not None or patience > 0
    alone_with = {"network": network} | ({} if joint else {"on": on, "out": out})
    levels = {"sync": sync != "bsp", "topology": topology != "allreduce", "compress": compress != "none"}
    check_used(task, workers, tile, full, alone_with, levels)
    make = words.choose("optimiser", optimizer, words.OPTIMIZERS)
    chosen = make(usual_rate(optimizer) if rate is None else rate)
    on = "processes" if on is None else on
    place = words.read_place(on, workers + pieces[1].servers, network) if joint else None
    asked, about = task_of(task, model, data, batch, tile or TILE, full, threads)
    demand_batches(len(asked.train), asked.batch, workers)
    say(f"{about} · {optimizer}, rate {chosen.rate:g}")
    if not joint:
        weights = alone(asked.model, (asked.train, asked.test), chosen, epochs, asked.batch, seed)
    else:
        told = words.told_place(on, network)
        who = f"{workers} worker" + "s" * (workers > 1)
        say(f"{who} · when: {sync} · with whom: {topology} · how briefly: {compress} · where: {told}")
        weights = together(asked, chosen, epochs, seed, pieces, place, out, until=until, patience=patience)
    if task == "segment":
        by_class(asked.by_class(weights))
    if save:
        write_results(save, lambda file: asked.model.save(file, weights, asked.statistics(weights)), "weights")


def usual_rate(optimizer: str) -> float:
    if optimizer not in RATES:
        raise ValueError(f"no rate is usual for {optimizer}; give one, such as --rate 0.01")
    return RATES[optimizer]


def check_used(task: str, workers: int, tile: int | None, full: bool, alone_with: dict, levels: dict) -> None:
    """Refuse options that would be ignored. alone_with: those without a meaning for one worker, as they were given;
    levels: whether each of the three was chosen."""
    if workers < 1:
        raise ValueError(f"--workers {workers}: there must be at least one")
    ignored = [name for name, chosen in levels.items() if chosen]
    ignored += [name for name, given in alone_with.items() if given is not None]
    if workers == 1 and ignored:
        said = ", ".join(f"--{name}" for name in ignored)
        raise ValueError(f"one worker talks to nobody, so {said} would have no effect; give --workers 2 or more")
    if tile is not None and task == "classify":
        raise ValueError(f"--tile {tile} is the size of tiles to segment, and would have no effect; add --task segment")
    if full and task == "segment":
        raise ValueError("--full is for sets of pictures with classes, and would have no effect with --task segment")


def check_until(until: float | None) -> None:
    if until is not None and not 0 < until <= 1:
        raise ValueError(
            f"--until {until:g}: give the share of the test set that is to be right, such as 0.85 for 85 %"
        )


def check_places(save: Path | None, out: Path | None) -> None:
    """Say before the work, not after it, that there is no room for what comes of it."""
    if out is not None:
        demand_new(out)
    if save is not None:
        demand_place(save)


@data.command("get")
def get(name: str, folder: Annotated[Path | None, typer.Option(help="where to put it")] = None) -> None:
    """Download a set, check it, and keep it where `load` finds it. An interrupted download goes on where it stopped."""
    from dlmini.data.download import command

    command(name, folder)


@data.command("list")
def listing() -> None:
    """Show which sets are on this machine."""
    from dlmini.data import catalogue

    for name in catalogue.SOURCES:
        full = catalogue.whereabouts(name)
        where = str(full[0].parent) if full else f"not here; `dlmini data get {name}` fetches it"
        part = "a part is bundled, " if name in catalogue.bundled() else ""
        console.print(f"{name:15}{part}full set: {where}", highlight=False, soft_wrap=True)


@app.command("warm-up")
def warm_up(only: Annotated[list[str] | None, typer.Argument(help="such as networks; all by default")] = None) -> None:
    """Compile every kernel now, so that no lesson has to wait for it."""
    from dlmini import command_words as words
    from dlmini import jit
    from dlmini.course.warm_up import prepared, stages

    start, known = time.perf_counter(), stages()
    todo = {name: words.choose("stage", name, known) for name in only or known}
    with console.status("preparing") as status:
        for name in prepared(todo):
            status.update(f"prepared {name}")
    say(f"kernels are ready in {jit.cache_root()} after {time.perf_counter() - start:.1f} s")
