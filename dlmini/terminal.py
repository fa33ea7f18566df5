"""What a person sees in a terminal: progress while training, and afterwards where the time went."""

from __future__ import annotations

import time
from contextlib import nullcontext

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dlmini.files import demand_new

console = Console()
SHOWN = 16  # ranks whose time is shown
COLUMNS = "configuration", "accuracy", "seconds", "compute", "comm.", "waiting", "comm.", "+ waiting", "total", "MB"


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


def together(task, optimizer, epochs, seed, pieces, place, out, **ends):
    """Workers on a transport; returns the weights of worker 0. ends: `until` and `patience`, as `train` has them."""
    from dlmini.recipe import Recipe
    from dlmini.run import train as start_run

    if out:
        demand_new(out)
    sync, topology, compression = pieces
    workers = place.size - topology.servers
    per_epoch = max(1, len(task.train) // workers // task.batch // sync.period(10**9))
    rounds = max(1, epochs * per_epoch)
    recipe = Recipe(sync, topology, compression, optimizer, rounds=rounds, evaluate_every=per_epoch, seed=seed)
    say(f"{workers} workers · {sync!r} · {topology!r} · {compression!r} · {place!r}")
    run = start_run(task, recipe, place, **ends)
    watch(run, Board(rounds))
    report(run.result(), out)
    return run.result().weights


def watch(run, board: Board) -> None:
    """Show the board while the run lasts; where there is no terminal, only a line for each look."""
    live = Live(board, console=console, transient=True, refresh_per_second=8) if console.is_terminal else nullcontext()
    with live:
        for event in run:
            board.hear(event)
            if hasattr(event, "accuracy"):
                say(f"round {event.t + 1}: test accuracy {event.accuracy:.1%} at {event.at:.2f} s")


class Board:
    """A joint run, seen while it lasts: loss, accuracy, bytes, and where the time of each rank goes."""

    def __init__(self, rounds: int):
        self.rounds, self.t, self.loss, self.accuracy = rounds, 0, float("nan"), float("nan")
        self.phases, self.sent = {}, {}

    def hear(self, event) -> None:
        if hasattr(event, "accuracy"):
            self.accuracy = event.accuracy
        elif getattr(event, "phases", None) is not None:
            self.phases[event.rank], self.sent[event.rank] = event.phases, event.sent
            if event.rank == 0:
                self.t, self.loss = event.t + 1, event.loss

    def __rich__(self) -> Group:
        facts = f"round {self.t}/{self.rounds}  loss {self.loss:.3f}  test accuracy {self.accuracy:.1%}"
        head = f"{facts}  {sum(self.sent.values()) / 1e6:,.1f} MB sent"
        shares = phase_lines([self.phases[rank] for rank in sorted(self.phases)])
        return Group(head, ProgressBar(self.rounds, self.t, width=60), *map(Text.from_markup, shares))


def phase_lines(ranks: list) -> list[str]:
    """A bar for each rank: what it does with its time."""
    lines = ["[blue]█[/] compute  [red]█[/] communication  [yellow]█[/] waiting"]
    for rank, phases in enumerate(ranks[:SHOWN]):
        parts = {"blue": phases.compute, "red": phases.communication, "yellow": phases.waiting}
        widths = {colour: round(40 * part / (sum(parts.values()) or 1)) for colour, part in parts.items()}
        bar = "".join(f"[{colour}]{'█' * width}[/]" for colour, width in widths.items())
        lines.append(f"rank {rank:3}  {bar}  " + " + ".join(f"{part:.2f}" for part in parts.values()) + " s")
    return [*lines, f"... and {len(ranks) - SHOWN} ranks more"] if len(ranks) > SHOWN else lines


def report(outcome, out) -> None:
    """Where the time went, rank by rank, and what was sent."""
    for text in phase_lines(outcome.phases) if outcome.phases else ():
        say(text)
    if outcome.stopped:  # ranks were ended at work: what they had sent by then nobody has counted
        say(f"[bold]{outcome.accuracy:.1%}[/bold] after {outcome.measured[-1].at:.2f} s. Ended: {outcome.stopped}")
    else:
        say(
            f"[bold]{outcome.accuracy:.1%}[/bold] after {outcome.seconds:.2f} s · {outcome.messages:,} messages · "
            f"{outcome.nbytes / 1e6:,.1f} MB"
        )
    if out:
        say(f"events and summary written to {outcome.save(out)}")


def by_class(scores) -> None:
    """How well each class of pixels is found."""
    view = Table("class", "share of pixels", "IoU", "found of it", "right of what was taken for it")
    for score in scores:
        view.add_row(score.name, *(f"{part:.1%}" for part in score[1:]))
    console.print(view)


def line(row) -> str:
    return f"{row.label}: {row.accuracy:.1%}"


def table(rows) -> None:
    """Accuracy, time split, and how many times faster than the first: communication, with waiting, in all."""
    first = rows[0][0]
    view = Table(*COLUMNS)
    for row, spread in rows:
        accuracy = f"{row.accuracy:.1%}" + (f" ± {spread:.1%}" if spread else "")
        times = [f"{t:.3f}" for t in (row.seconds, row.compute, row.communication, row.waiting)]
        faster = [times_less(first, row, what) for what in ("communication", "synchronisation", "seconds")]
        view.add_row(row.label, accuracy, *times, *faster, f"{row.megabytes:,.1f}")
    console.print(view)


def times_less(first, row, what: str) -> str:
    return f"x{getattr(first, what) / getattr(row, what):.1f}" if getattr(row, what) else ""


def say(text: str) -> None:
    console.print(text, highlight=False)


def display() -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, transient=True)
