"""Many trainings: some at a time, finished ones kept, seeds averaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from hashlib import blake2b
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import dlmini
from dlmini import files
from dlmini.crew import worked_off
from dlmini.studies.classroom.learning import Learned, Look


def spread(jobs: list[tuple], crew: int = 1, ended: Callable = lambda found: None, kept: Path | None = None) -> list:
    """(function, arguments...) each, `crew` at a time, in processes of their own if that is more than one.

    kept: a folder of runs that are finished: those are read, and new ones are added. So hours can be interrupted.
    """
    found = {}
    alone = ((number, once(job, kept)) for number, job in enumerate(jobs))
    for number, one in alone if crew == 1 else worked_off(one_of_many, kept, jobs, crew):
        found[number] = one
        ended(one)
    return [found[number] for number in range(len(jobs))]


def one_of_many(kept: Path | None, job: tuple, tell: Callable) -> Learned:
    return once(job, kept)


def once(job: tuple, folder: Path | None = None) -> Learned:
    """Do it, unless it has been done."""
    work, *given = job
    if folder is None:
        return work(*given)
    asked = f"dlmini {dlmini.__version__}: {work.__name__}{tuple(given)!r}"
    file = folder / f"{blake2b(asked.encode(), digest_size=8).hexdigest()}.json"
    if file.exists():
        return recalled(file, asked)
    found = work(*given)
    folder.mkdir(parents=True, exist_ok=True)
    files.write_text(file, json.dumps({"asked": asked, **asdict(found)}))
    return found


def recalled(file: Path, asked: str) -> Learned:
    try:
        said = json.loads(file.read_text(encoding="utf-8"))
        if said.pop("asked") != asked:
            raise ValueError("it is another run's")
        return Learned(**said | {"curve": tuple(Look(*look) for look in said["curve"])})
    except files.DAMAGED as error:
        raise ValueError(f"{file} is no finished run ({files.why(error)}); delete it, and it is done again") from error


class Mean(NamedTuple):
    """Several seeds of one way."""

    name: str
    accuracy: float
    spread: float
    packet: int
    nbytes: int
    curve: tuple[Look, ...]


class Points(NamedTuple):
    """Points of accuracy against another way, seed by seed: their mean and spread."""

    mean: float
    spread: float
    seeds: int

    def __str__(self) -> str:
        return f"{self.mean:+.1f}" + (f" ± {self.spread:.1f}" if self.seeds > 1 else "")


def points(found: list[Learned], name: str, against: str) -> Points:
    """Runs of one seed begin with the same weights and see the same pictures, so they are compared in pairs."""
    by_seed = [{one.seed: one.accuracy for one in found if one.name == who} for who in (name, against)]
    gaps = [100 * (by_seed[0][seed] - by_seed[1][seed]) for seed in by_seed[0] if seed in by_seed[1]]
    return Points(mean(gaps), stdev(gaps) if len(gaps) > 1 else 0.0, len(gaps))


def means(found: list[Learned]) -> list[Mean]:
    """By name, in the order in which they came."""
    out = []
    for name in dict.fromkeys(one.name for one in found):
        same = [one for one in found if one.name == name]
        looks = zip(*(one.curve for one in same), strict=True)
        curve = tuple(Look(*map(mean, zip(*points, strict=True))) for points in looks)
        exact = [one.accuracy for one in same]
        out.append(
            Mean(
                name,
                mean(exact),
                stdev(exact) if len(exact) > 1 else 0.0,
                max(one.packet for one in same),
                round(mean(one.nbytes for one in same)),
                curve,
            )
        )
    return out
