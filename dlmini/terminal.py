"""What a person sees in a terminal: progress while training, and afterwards where the time went."""

from __future__ import annotations

import time
from contextlib import nullcontext, suppress
from itertools import accumulate, pairwise
from math import isnan

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dlmini.files import kept

console = Console(emoji=False)  # classroom:x: is no cross
SHOWN = 16  # ranks whose time is shown
COLUMNS = "configuration", "accuracy", "seconds", "compute", "comm.", "waiting", "comm.", "+ waiting", "total", "MB"


def alone(model, sets, optimizer, epochs, batch, seed):
    """One process; returns the weights."""
    from dlmini.alone import Epoch, train_alone

    start, last = time.perf_counter(), None
    with display() as progress, suppress(KeyboardInterrupt):  # what was learned until then is the result
        bar = progress.add_task("compiling", total=None)
        for news in train_alone(model, *sets, optimizer, epochs=epochs, batch=batch, seed=seed):
            if isinstance(news, Epoch):
                last = news
                say(
                    f"epoch {news.epoch + 1}: loss {news.loss:.3f} · test accuracy {news.accuracy:.1%} · "
                    f"{news.speed:,.0f} images/s"
                )
            else:
                text = f"epoch {news.epoch + 1}/{epochs}  loss {news.loss:.3f}  {news.speed:,.0f} images/s"
                progress.update(bar, description=text, completed=news.step, total=news.steps)
    spent = time.perf_counter() - start
    if last is None:
        raise KeyboardInterrupt
    early = "" if last.epoch + 1 == epochs else f" (stopped by hand after {last.epoch + 1} of {epochs} epochs)"
    say(f"[bold]{last.accuracy:.1%}[/bold] of {len(sets[1]):,} test images right after {spent:.1f} s{early}")
    return last.weights


def together(task, optimizer, epochs, seed, pieces, place, out, **ends):
    """Workers on a transport; returns the weights of worker 0. ends: `until` and `patience`, as `train` has them.

    Ctrl-C ends it with what was learned until then.
    """
    from dlmini.recipe import Recipe
    from dlmini.run import train as start_run

    sync, topology, compression = pieces
    workers = place.size - topology.servers
    if workers > len(task.train):
        raise ValueError(
            f"--workers {workers}: there are {len(task.train):,} images to learn from, and every worker needs at least "
            f"one of its own; give at most so many"
        )
    per_epoch = max(1, len(task.train) // workers // task.batch // sync.period(10**9))
    rounds = max(1, epochs * per_epoch)
    recipe = Recipe(sync, topology, compression, optimizer, rounds=rounds, evaluate_every=per_epoch, seed=seed)
    run, board = start_run(task, recipe, place, **ends), Board(rounds)
    watch(run, board)
    report(run.result(), board, out)
    return run.result().weights


def watch(run, board: Board) -> None:
    """Show the board while the run lasts; where there is no terminal, only a line for each look."""
    live = Live(board, console=console, transient=True, refresh_per_second=8) if console.is_terminal else nullcontext()
    with live, suppress(KeyboardInterrupt):  # it stops the run; what it has learned until then is its result
        for event in run:
            board.hear(event)
            if hasattr(event, "accuracy"):
                say(f"round {event.t + 1}: test accuracy {event.accuracy:.1%} at {event.at:.2f} s")


class Board:
    """A joint run, seen while it lasts: loss, accuracy, bytes, and where the time of each rank goes.

    Of a rank's seconds between its first and its last round, those that are neither booked as work nor as messages are
    `other`: fetching batches, adding up what came, stepping, showing weights.
    """

    def __init__(self, rounds: int):
        self.rounds, self.t, self.loss, self.accuracy = rounds, 0, float("nan"), float("nan")
        self.phases, self.sent, self.ready, self.ends = {}, {}, {}, {}

    def hear(self, event) -> None:
        if hasattr(event, "accuracy"):
            self.accuracy = event.accuracy
        elif getattr(event, "phases", None) is not None:
            self.phases[event.rank], self.sent[event.rank] = event.phases, event.sent
            self.ready.setdefault(event.rank, event.at - booked(event.phases))
            self.ends[event.rank] = event.at
            if event.rank == 0:
                self.t, self.loss = event.t + 1, event.loss

    def lines(self) -> list[str]:
        """A bar for each rank: what it does with its time."""
        ranks = sorted(self.phases)
        spent = [self.ends[rank] - self.ready[rank] for rank in ranks]
        return phase_lines([self.phases[rank] for rank in ranks], spent)

    def __rich__(self) -> Group:
        facts = f"round {self.t}/{self.rounds}  loss {self.loss:.3f}  test accuracy {self.accuracy:.1%}"
        head = f"{facts}  {sum(self.sent.values()) / 1e6:,.1f} MB sent"
        return Group(head, ProgressBar(self.rounds, self.t, width=60), *map(Text.from_markup, self.lines()))


def booked(phases) -> float:
    """Seconds of a rank that have a name."""
    return phases.compute + phases.communication + phases.waiting


def phase_lines(ranks: list, spent: list[float]) -> list[str]:
    """A bar for each rank, whose parts add up to what it spent."""
    lines = ["[blue]█[/] compute  [red]█[/] communication  [yellow]█[/] waiting  [white]█[/] other (batches, steps)"]
    for rank, (phases, seconds) in enumerate(zip(ranks[:SHOWN], spent, strict=False)):
        parts = {"blue": phases.compute, "red": phases.communication, "yellow": phases.waiting}
        parts["white"] = max(0.0, seconds - booked(phases))
        ends = [round(40 * part / (sum(parts.values()) or 1)) for part in accumulate(parts.values(), initial=0.0)]
        widths = zip(parts, (b - a for a, b in pairwise(ends)), strict=True)
        bar = "".join(f"[{colour}]{'█' * width}[/]" for colour, width in widths)
        told = " + ".join(f"{part:.2f}" for part in parts.values())
        lines.append(f"rank {rank:3}  {bar}  {told} = {sum(parts.values()):.2f} s")
    return [*lines, f"... and {len(ranks) - SHOWN} ranks more"] if len(ranks) > SHOWN else lines


def report(outcome, board: Board, out) -> None:
    """Where the time went, rank by rank and in all, and what was sent."""
    for text in board.lines():
        say(text)
    if outcome.stopped:
        say(f"Ended: {escape(outcome.stopped)}")
    right = "nothing was tried on the test set yet" if isnan(outcome.accuracy) else f"{outcome.accuracy:.1%}"
    say(f"[bold]{right}[/bold] after {time_told(outcome.seconds, board)} · {sent_told(outcome, board)}")
    if out:
        write_results(out, outcome.save, "events and summary")


def time_told(seconds: float, board: Board) -> str:
    """The whole time, in parts that have a name: until ranks were ready, between first and last round, the end."""
    ready, end = min(board.ready.values(), default=0.0), max(board.ends.values(), default=0.0)
    if isnan(seconds):  # a run that was stopped does not know
        return f"{end - ready:.2f} s of training"
    around = seconds - (end - ready)
    if around < 0.005:
        return f"{seconds:.2f} s"
    return f"{seconds:.2f} s = {end - ready:.2f} s of training + {around:.2f} s to start and end the ranks"


def sent_told(outcome, board: Board) -> str:
    if outcome.messages:
        return f"{outcome.messages:,} messages · {outcome.nbytes / 1e6:,.1f} MB"
    return f"{sum(board.sent.values()) / 1e6:,.1f} MB"


def write_results(place, write_to, what: str) -> None:
    """Write what was computed, if need be elsewhere; and say where it is."""
    where, why = kept(place, write_to)
    if why:
        say(f"[red]{escape(why)}[/red]")
    say(f"{what} written to {escape(str(where))}")


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


def harmless(text: str) -> str:
    """What others may have said, without what a terminal obeys, and without marks that turn letters around."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def say(text: str) -> None:
    console.print(text, highlight=False)


def display() -> Progress:
    columns = TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn()
    return Progress(*columns, console=console, transient=True)
