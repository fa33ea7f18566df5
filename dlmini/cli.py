"""The command line: `dlmini train | data | warm-up`. Text becomes objects here and nowhere else."""

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
OPTIMIZERS = {"sgd": 0.05, "momentum": 0.02, "nesterov": 0.02, "adagrad": 0.01, "adam": 0.001}  # and usual rates


def main() -> None:
    """Run, and turn errors that a person can mend into one sentence."""
    try:
        app()
    except (ValueError, TypeError, OSError, FloatingPointError) as error:
        console.print(f"[red]error:[/red] {error}", highlight=False)
        raise SystemExit(1) from error


@app.callback()
def about() -> None:
    """dlmini: distributed training of neural networks, small enough to read."""


def choose(kind: str, name: str, table: dict):
    """The entry called `name`, or a sentence that lists the others."""
    found = table.get(name.replace("-", "_"))
    if found is None:
        raise ValueError(f"there is no {kind} called {name!r}; choose one of {', '.join(table)}")
    return found


def make_optimizer(name: str, rate: float | None):
    from dlmini import optim

    usual = choose("optimiser", name, OPTIMIZERS)
    kinds = {kind.lower(): getattr(optim, kind) for kind in ("SGD", "Momentum", "Nesterov", "Adagrad", "Adam")}
    return kinds[name](usual if rate is None else rate)


@app.command()
def train(
    model: Annotated[str, typer.Option(help=MODELS)] = "lenet",
    data: Annotated[str, typer.Option(help="fashion-mnist, mnist, cifar10 or cifar100")] = "fashion-mnist",
    epochs: Annotated[int, typer.Option(min=1)] = 2,
    batch: Annotated[int, typer.Option(min=1, help="images per step")] = 50,
    optimizer: Annotated[str, typer.Option(help=", ".join(OPTIMIZERS))] = "momentum",
    rate: Annotated[float | None, typer.Option(help="learning rate; by default a usual one")] = None,
    seed: int = 0,
    threads: Annotated[int, typer.Option(min=1, help="threads that share each batch")] = 1,
    full: Annotated[bool, typer.Option(help="the published set, not the bundled part")] = False,
    save: Annotated[Path | None, typer.Option(help="write the weights to this .npz file")] = None,
) -> None:
    """Train a network in one process, with a live display."""
    from dlmini.alone import Epoch, train_alone
    from dlmini.data import load
    from dlmini.nn import ZOO

    build, chosen = choose("model", model, ZOO), make_optimizer(optimizer, rate)
    training, test = load(data, full=full)
    network = build(input=training.shape, classes=len(training.classes), threads=threads)
    console.print(f"{model}: {network.size:,} parameters · {len(training):,} images of {data} · {chosen!r}")
    start = time.perf_counter()
    with display() as progress:
        bar = progress.add_task("compiling", total=None)
        for news in train_alone(network, training, test, chosen, epochs=epochs, batch=batch, seed=seed):
            if isinstance(news, Epoch):
                progress.console.print(
                    f"epoch {news.epoch + 1}: loss {news.loss:.3f} · test accuracy {news.accuracy:.1%} · "
                    f"{news.speed:,.0f} images/s",
                    highlight=False,
                )
            else:
                text = f"epoch {news.epoch + 1}/{epochs}  loss {news.loss:.3f}  {news.speed:,.0f} images/s"
                progress.update(bar, description=text, completed=news.step, total=news.steps)
    console.print(f"[bold]{news.accuracy:.1%}[/bold] of {len(test):,} test images right after "
                  f"{time.perf_counter() - start:.1f} s", highlight=False)  # fmt: skip
    if save:
        network.save(save, news.weights)
        console.print(f"weights written to {save}")


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
    from dlmini import jit
    from dlmini.nn.warm import warm

    start = time.perf_counter()
    with console.status("compiling kernels"):
        warm()
    console.print(f"kernels are ready in {jit.cache_root()} after {time.perf_counter() - start:.1f} s", highlight=False)
