"""All entries in all worlds of a secret, and who is in front."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from dlmini.leaderboard.judge import FIRST, Trial, judge
from dlmini.leaderboard.voices import LONGEST
from dlmini.leaderboard.worlds import World

REFERENCES = ("plain", "composed", "ours")


@dataclass(frozen=True)
class Entry:
    """name: whose it is; without a source, `problem` says why."""

    name: str
    source: str | None
    problem: str = ""
    reference: bool = False


@dataclass(frozen=True)
class Result:
    """What an entry came to: its score is its mean accuracy within the budgets, over all worlds."""

    entry: Entry
    trials: tuple[Trial, ...]

    @property
    def score(self) -> float:
        return mean(trial.accuracy for trial in self.trials)

    @property
    def why(self) -> str:
        """The first thing that went wrong."""
        return self.entry.problem or next((trial.why for trial in self.trials if trial.why), "")


def references() -> list[Entry]:
    """Three entries to be held against: plain, the best of the ten configurations, and ours."""
    here = Path(__file__).parent / "entries"
    return [Entry(name, (here / f"{name}.py").read_text(encoding="utf-8"), reference=True) for name in REFERENCES]


def race(
    entries: Iterable[Entry],
    worlds: list[World],
    sandbox,
    told: Callable[[str, Trial], None] = lambda *_: None,
    keep: Callable[[list[Result]], None] = lambda _: None,
) -> list[Result]:
    """Every entry in every world, the best first; equal ones by name. keep: is given those so far after each entry."""
    found = []
    for entry in entries:
        trials = []
        for world in worlds:
            trials.append(one_trial(entry, world, sandbox))
            told(entry.name, trials[-1])
        found.append(Result(entry, tuple(trials)))
        found.sort(key=lambda result: (-result.score, result.entry.name))
        keep(found)
    return found


def one_trial(entry: Entry, world: World, sandbox) -> Trial:
    nothing = Trial(world.kind, world.seed, terms=world.terms.as_dict())
    if entry.source is None:
        return Trial(**vars(nothing) | {"why": entry.problem or "nothing was handed in"})
    if len(entry.source) > LONGEST:
        why = f"the file has {len(entry.source)} characters; an entry has at most {LONGEST}"
        return Trial(**vars(nothing) | {"why": why})
    return judge(entry.source, f"{entry.name}.py", world, sandbox)


def front(points: list[tuple[float, float]]) -> list[int]:
    """Of (cost, accuracy): the numbers of those that nobody beats in both, by cost."""
    best, kept = FIRST, []
    for number in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        if points[number][1] > best:
            best = points[number][1]
            kept.append(number)
    return kept
