"""All entries in all worlds of a secret, and who is in front."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean

from dlmini.grade.runner.process import Broken
from dlmini.leaderboard.judge import FIRST, Trial, judge, sentence
from dlmini.leaderboard.voices import LONGEST
from dlmini.leaderboard.worlds import World

REFERENCES = ("plain", "composed", "ours")
UNREPEATABLE = "judged again it came to something else, so nothing counts: draw lots from `seed` alone"
TRIES = 2  # for a trial in which the judge's own side fails


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
    known: Callable[[Entry], Result | None] = lambda _: None,
) -> list[Result]:
    """Every entry in every world, the best first; equal ones by name. keep: is given those so far after each entry;
    known: what an entry came to already, in a race that was ended."""
    found = []
    for entry in entries:
        found.append(known(entry) or Result(entry, all_trials(entry, worlds, sandbox, told)))
        found.sort(key=lambda result: (-result.score, result.entry.name))
        keep(found)
    return found


def all_trials(entry: Entry, worlds: list[World], sandbox, told) -> tuple[Trial, ...]:
    """An entry in every world; of one with code of its own nothing counts if it comes to something else next time."""
    trials = []
    for world in worlds:
        trials.append(one_trial(entry, world, sandbox))
        if trials[-1].looks and not entry.reference:  # where nothing counts, nothing needs to be tried again
            trials[-1] = agreed(trials[-1], one_trial(entry, world, sandbox))
        told(entry.name, trials[-1])
    if any(trial.why == UNREPEATABLE for trial in trials):
        return tuple(replace(trial, looks=(), why=UNREPEATABLE) for trial in trials)
    return tuple(trials)


def agreed(one: Trial, again: Trial) -> Trial:
    """What both came to. On a busy machine one of the two may have ended earlier: then that much counts."""
    if again.broken:
        return again
    shorter = min(one, again, key=lambda trial: len(trial.looks))
    same = all(repr(a) == repr(b) for a, b in zip(one.looks, again.looks, strict=False))
    alike = same and (one.legend == again.legend or not again.legend)
    return shorter if alike else replace(one, looks=(), why=UNREPEATABLE)


def one_trial(entry: Entry, world: World, sandbox) -> Trial:
    nothing = Trial(world.kind, world.seed, terms=world.terms.as_dict())
    if entry.source is None:
        return replace(nothing, why=entry.problem or "nothing was handed in")
    if len(entry.source) > LONGEST:
        why = f"the file has {len(entry.source)} characters; an entry has at most {LONGEST}"
        return replace(nothing, why=why)
    for tries in range(1, TRIES + 1):
        try:
            return judge(entry.source, f"{entry.name}.py", world, sandbox)
        except Broken as error:
            why = f"the judge's own side failed, {tries} times: {error}; --resume judges it again"
        except Exception as error:  # whatever an entry brings about, it never ends the race of all
            why = f"the judge was stopped by it: {type(error).__name__}: {error}; --resume judges it again"
            break
    return replace(nothing, why=sentence(why), broken=True)


def front(points: list[tuple[float, float]]) -> list[int]:
    """Of (cost, accuracy): the numbers of those that nobody beats in both, by cost."""
    best, kept = FIRST, []
    for number in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        if points[number][1] > best:
            best = points[number][1]
            kept.append(number)
    return kept
