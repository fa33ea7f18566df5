"""The command line: `dlmini train | data | warm-up`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
data = typer.Typer(no_args_is_help=True, help="Datasets: what is here, and how to get the rest.")
app.add_typer(data, name="data")
console = Console()

MODELS = "softmax_regression, mlp, lenet, cifar_net or volunteer_net"
RATES = {"sgd": 0.05, "momentum": 0.02, "nesterov": 0.02, "adagrad": 0.01, "adam": 0.001}  # usual ones

SHOWN = 16  # ranks whose time is shown


def main() -> None:
    """Run, and turn errors that a person can mend into one sentence."""
    try:
        app()
    except (ValueError, TypeError, OSError, ImportError, FloatingPointError) as error:
        console.print(f"[red]error:[/red] {error}", highlight=False)
        raise SystemExit(1) from error


@app.callback()
def about() -> None:
    """dlmini: distributed training of neural networks, small enough to read."""


@app.command()
def train(
    model: Annotated[str, typer.Option(help=MODELS)] = "lenet",
    data: Annotated[str, typer.Option(help="fashion-mnist, mnist, cifar10 or cifar100")] = "fashion-mnist",
    epochs: Annotated[int, typer.Option(min=1)] = 2,
    batch: Annotated[int, typer.Option(min=1, help="images per worker and step")] = 50,
    optimizer: Annotated[str, typer.Option(help=", ".join(RATES))] = "momentum",
    rate: Annotated[float | None, typer.Option(help="learning rate; by default a usual one")] = None,
    seed: int = 0,
    threads: Annotated[int, typer.Option(min=1, help="threads that share each batch")] = 1,
    full: Annotated[bool, typer.Option(help="the published set, not the bundled part")] = False,
    save: Annotated[Path | None, typer.Option(help="write the weights to this .npz file")] = None,
    workers: Annotated[int, typer.Option(help="more than one: train together")] = 1,
    sync: Annotated[str, typer.Option(help="when to talk: bsp, local:16, async, ssp:3")] = "bsp",
    topology: Annotated[str, typer.Option(help="with whom: allreduce, server:2, gossip:ring")] = "allreduce",
    compress: Annotated[str, typer.Option(help="how briefly: none, int8, topk:0.01, threshold:keep=0.05")] = "none",
    on: Annotated[str, typer.Option(help="simulated, processes or mpi")] = "processes",
    network: Annotated[str | None, typer.Option(help="gigabit, wifi, infiniband ...")] = None,
    out: Annotated[Path | None, typer.Option(help="write events and summary of a joint run to this new folder")] = None,
) -> None:
    """Train a network, alone or with workers, with a live display."""
    from dlmini import words
    from dlmini.data import load
    from dlmini.nn import ZOO

    if workers < 1:
        raise ValueError(f"--workers {workers}: there must be at least one")
    build, make = words.choose("model", model, ZOO), words.choose("optimiser", optimizer, words.OPTIMIZERS)
    chosen = make(RATES[optimizer] if rate is None else rate)
    sets = load(data, full=full)
    net = build(input=sets[0].shape, classes=len(sets[0].classes), threads=threads)
    console.print(f"{model}: {net.size:,} parameters · {len(sets[0]):,} images of {data} · {chosen!r}")
    if workers == 1:
        weights = alone(net, sets, chosen, epochs, batch, seed)
    else:
        pieces = words.read_sync(sync), words.read_topology(topology), words.read_compression(compress)
        place = words.read_place(on, workers + pieces[1].servers, network)
        weights = together(net, sets, chosen, epochs, batch, seed, pieces, place, out)
    if save:
        net.save(save, weights)
        console.print(f"weights written to {save}")


def alone(model, sets, optimizer, epochs, batch, seed):
    """One process; returns the weights."""
    from dlmini.alone import Epoch, train_alone

    start = time.perf_counter()
    with display() as progress:
        bar = progress.add_task("compiling", total=None)
        for news in train_alone(model, *sets, optimizer, epochs=epochs, batch=batch, seed=seed):
            if isinstance(news, Epoch):
                say(
                    f"epoch {news.epoch + 1}: loss {news.loss:.3f} · test accuracy {news.accuracy:.1%} · "
                    f"{news.speed:,.0f} images/s"
                )
            else:
                text = f"epoch {news.epoch + 1}/{epochs}  loss {news.loss:.3f}  {news.speed:,.0f} images/s"
                progress.update(bar, description=text, completed=news.step, total=news.steps)
    spent = time.perf_counter() - start
    say(f"[bold]{news.accuracy:.1%}[/bold] of {len(sets[1]):,} test images right after {spent:.1f} s")
    return news.weights


def together(model, sets, optimizer, epochs, batch, seed, pieces, place, out):
    """Workers on a transport; returns the weights of worker 0."""
    from dlmini.events import Measured, Round
    from dlmini.recipe import Recipe
    from dlmini.run import train as start_run
    from dlmini.task import Classify

    sync, topology, compression = pieces
    workers = place.size - topology.servers
    per_epoch = max(1, len(sets[0]) // workers // batch // sync.period(10**9))
    rounds = max(1, epochs * per_epoch)
    recipe = Recipe(sync, topology, compression, optimizer, rounds=rounds, look=per_epoch, seed=seed)
    say(f"{workers} workers · {sync!r} · {topology!r} · {compression!r} · {place!r}")
    run, said = start_run(Classify(model, *sets, batch), recipe, place), 0
    with display() as progress:
        bar = progress.add_task("starting", total=rounds)
        for event in run:
            if isinstance(event, Measured):
                say(f"round {event.t + 1}: test accuracy {event.accuracy:.1%} at {event.at:.2f} s")
            elif isinstance(event, Round):
                said += event.nbytes
                if event.rank == 0:
                    text = f"round {event.t + 1}  loss {event.loss:.3f}  {said / 1e6:,.1f} MB said"
                    progress.update(bar, description=text, completed=event.t + 1)
    report(run.result(), out)
    return run.result().weights


def report(outcome, out) -> None:
    """Where the time went, rank by rank, and what was sent."""
    say("[blue]█[/] compute  [red]█[/] communication  [yellow]█[/] waiting")
    for rank, phases in enumerate(outcome.phases[:SHOWN]):
        parts = {"blue": phases.compute, "red": phases.communication, "yellow": phases.waiting}
        widths = {colour: round(40 * part / (sum(parts.values()) or 1)) for colour, part in parts.items()}
        bar = "".join(f"[{colour}]{'█' * width}[/]" for colour, width in widths.items())
        say(f"rank {rank:3}  {bar}  " + " + ".join(f"{part:.2f}" for part in parts.values()) + " s")
    if len(outcome.phases) > SHOWN:
        say(f"... and {len(outcome.phases) - SHOWN} ranks more")
    say(
        f"[bold]{outcome.accuracy:.1%}[/bold] after {outcome.seconds:.2f} s · {outcome.messages:,} messages · "
        f"{outcome.nbytes / 1e6:,.1f} MB"
    )
    if out:
        say(f"events and summary written to {outcome.save(out)}")


def say(text: str) -> None:
    console.print(text, highlight=False)


def display() -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, transient=True)


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
def warm_up() -> None:
    """Compile every kernel now, so that no lesson has to wait for it."""
    import dlmini.compression.warm
    import dlmini.nn.warm
    from dlmini import jit

    start = time.perf_counter()
    with console.status("compiling kernels"):
        dlmini.nn.warm.warm()
        dlmini.compression.warm.warm()
    say(f"kernels are ready in {jit.cache_root()} after {time.perf_counter() - start:.1f} s")
