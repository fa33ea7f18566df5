"""What a person sees in a terminal: progress while training, and afterwards where the time went."""

import time

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

console = Console()
SHOWN = 16  # ranks whose time is shown
COLUMNS = [
    "no.",
    "period",
    "topology",
    "compression",
    "accuracy",
    "seconds",
    "compute",
    "communication",
    "faster",
    "waiting",
    "MB",
]


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


def line(row) -> str:
    return f"{row.number:2}  Local-SGD({row.period}) {row.topology} {row.compression}: {row.accuracy:.1%}"


def table(rows) -> None:
    """Accuracy, time split, and how much faster communication is than in the first row."""
    first = rows[0][0]
    view = Table(*COLUMNS)
    for row, spread in rows:
        accuracy = f"{row.accuracy:.1%}" + (f" ± {spread:.1%}" if spread else "")
        times = f"{row.seconds:.2f}", f"{row.compute:.2f}", f"{row.communication:.3f}"
        faster = f"x{first.communication / row.communication:.1f}" if row.communication else ""
        names = str(row.number), str(row.period), row.topology, row.compression
        view.add_row(*names, accuracy, *times, faster, f"{row.waiting:.3f}", f"{row.megabytes:,.1f}")
    console.print(view)


def say(text: str) -> None:
    console.print(text, highlight=False)


def display() -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, transient=True)
