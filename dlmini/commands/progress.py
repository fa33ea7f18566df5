"""How far a command with several runs is, and how long it will take."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from math import isnan

import typer


def end_as_by_ctrl_c() -> None:
    """Who is asked to end (SIGTERM) ends in good order, as with Ctrl-C."""
    with suppress(AttributeError, ValueError):
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def ended_early(work: Callable[[], object]) -> bool:
    """Do it. True if Ctrl-C ended it: what it has put down until then is to be shown and written."""
    end_as_by_ctrl_c()
    try:
        work()
    except KeyboardInterrupt:
        return True
    return False


def refuse_ignored(context: typer.Context, names: tuple[str, ...], why: str) -> None:
    """Refuse options that would be ignored, if they were given."""
    given = [name for name in names if context.get_parameter_source(name).name == "COMMANDLINE"]
    if given:
        said = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise ValueError(why.format(f"{said} would have no effect"))


def some_of(option: str, said: str, known: tuple[str, ...], everything: str = "all") -> tuple[str, ...]:
    """Words with commas between them, all of them known and none twice; or the word for all."""
    if said == everything:
        return known
    words = tuple(said.split(","))
    if not {*words} <= {*known} or len({*words}) < len(words):
        others = f", or {everything}" if everything else ""
        raise ValueError(
            f"--{option} {said!r}: choose some of {', '.join(known)}{others}; each once, with commas between"
        )
    return words


class Progressing:
    """How far several runs are, as one line, and about how long the rest will take."""

    def __init__(self, jobs: int):
        self.jobs, self.done, self.shares, self.began = jobs, 0, {}, time.perf_counter()

    def reached(self, number: int, share: float) -> None:
        self.shares[number] = share

    def ended(self, number: int) -> None:
        self.shares.pop(number, None)
        self.done += 1

    def left(self) -> float:
        """Seconds to go, if all runs take alike; not a number before the first news."""
        share = (self.done + sum(self.shares.values())) / self.jobs
        return (time.perf_counter() - self.began) * (1 / share - 1) if share else float("nan")

    def __str__(self) -> str:
        at_work = "".join(f" · {number}: {share:.0%}" for number, share in sorted(self.shares.items()))
        return f"{self.done} of {self.jobs} done{at_work} · {self.to_go()}"

    def to_go(self) -> str:
        left = self.left()
        return "how long is not known yet" if isnan(left) else f"about {clock(left)} to go"


def clock(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
