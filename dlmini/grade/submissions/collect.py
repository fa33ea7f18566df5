"""All submissions of a class: who has handed in something, and what of it counts. Nothing is read in this process."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dlmini.grade.reading.names import shown
from dlmini.grade.submissions.guard import Guard, Refused


@dataclass(frozen=True)
class Submission:
    """`source` is the text that counts; without one, `problem` says why, in a sentence.

    name: unlike any other's; sender: whose it is, if that is not the same; file: which one it is from; id: of its
    sender, in the system that exported it; time: when it came, in seconds; late: whether that system says that it came
    late, None where it tells times; prints: its fingerprints, for the search for similar ones.
    """

    name: str
    source: str | None
    problem: str = ""
    file: str = ""
    id: str = ""
    time: float = 0.0
    sender: str = ""
    system: str = ""
    late: bool | None = None
    prints: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64), compare=False, repr=False)

    @property
    def digest(self) -> str:
        return hashlib.sha256((self.source or self.problem).encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def person(self) -> str:
        return self.sender or self.name


def collect(root: Path, stem: str, tasks: Iterable[str] = (), one: bool = False, jobs: int = 1) -> list[Submission]:
    """All submissions for the exercise `stem` (04_allreduce) under a folder or zip, by name. tasks: its functions.

    one: whatever lies there is one submission.
    """
    return collect_class([root], stem, tasks, one, jobs)[0]


def collect_class(
    roots: list[Path], stem: str, tasks: Iterable[str] = (), one: bool = False, jobs: int = 1, out: Path | None = None
) -> tuple[list[Submission], list[str]]:
    """All submissions under several folders or zips, and the names of files at their tops that are none.

    out: where grades go. If it lies among the submissions it is none of them.
    """
    found = [listed(root, stem, one, out) for root in roots]
    members = [{**m, "root": part["root"]} for part in found for m in part["members"]]
    members.sort(key=lambda m: (shown(m["name"]), m["root"], m["places"]))
    requests = [{"root": m["root"], "places": m["places"], "stem": stem, "tasks": list(tasks)} for m in members]
    made = [submission(*three) for three in zip(members, named_apart(members), read_all(requests, jobs), strict=True)]
    return made, sorted({shown(name) for part in found for name in part["stray"]})


def listed(root: Path, stem: str, one: bool, out: Path | None = None) -> dict:
    """Who has handed in something under one folder or zip."""
    if not root.exists():
        raise FileNotFoundError(f"{root} does not exist; name a folder or a zip of submissions")
    with Guard() as guard:
        try:
            found = guard.ask("class", root=str(root.absolute()), stem=stem, one=one, without=below(root, out))
        except Refused as error:
            raise ValueError(f"{root} holds no submissions that can be read. {error}") from error
    if not found["members"]:
        raise ValueError(f"{root} holds no submissions")
    return found


def below(root: Path, out: Path | None) -> list[str]:
    """Where in a class its own grades lie; empty if they do not."""
    there = out is not None and out.resolve().is_relative_to(root.resolve())
    return list(out.resolve().relative_to(root.resolve()).parts) if there else []


def submission(member: dict, names: tuple[str, str], read: dict) -> Submission:
    name, sender = names
    prints = np.array(read.pop("prints", []), np.uint64)
    number = shown(member["id"]) if member["id"] else ""
    more = {"time": member["time"], "system": member["system"], "late": member["late"], "prints": prints}
    return Submission(name, **read, id=number, sender=sender, **more)


def named_apart(members: list[dict]) -> list[tuple[str, str]]:
    """The name of each hand-in, and of whom it is.

    Namesakes in one folder are two students, unless a time behind their names says that they are one who came twice;
    namesakes in two folders are one.
    """
    names = [shown(m["name"]) for m in members]
    count = Counter(names)
    here = Counter((name, m["root"]) for name, m in zip(names, members, strict=True) if not m["again"])
    used, out = set(), []
    for name, member in zip(names, members, strict=True):
        where = shown("/".join(member["places"][0] or [Path(member["root"]).name]))
        full = apart = name if count[name] == 1 else f"{name} ({where})"
        number = 1
        while apart in used:
            apart, number = f"{full} {number + 1}", number + 1
        used.add(apart)
        out.append((apart, apart if here[name, member["root"]] > 1 else name))
    return out


def read_all(requests: list[dict], jobs: int) -> list[dict]:
    """What counts of each hand-in, several at a time."""
    guards, mine = [], threading.local()

    def read(request: dict) -> dict:
        if not hasattr(mine, "guard"):
            mine.guard = Guard()
            guards.append(mine.guard)
        try:
            return mine.guard.ask("hand_in", **request)
        except Refused as error:
            return {"source": None, "problem": str(error)}

    with ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(read, requests))
        finally:
            for guard in guards:
                guard.close()
