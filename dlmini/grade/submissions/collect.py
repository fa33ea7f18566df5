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

from dlmini.grade.reading.names import shown, slug
from dlmini.grade.submissions.guard import Guard, Refused


@dataclass(frozen=True)
class Submission:
    """`source` is the text that counts; without one, `problem` says why, in a sentence.

    file: which one it is from; id: of its sender, in the export it came with; time: when it came, in seconds;
    prints: its fingerprints, for the search for similar ones.
    """

    name: str
    source: str | None
    problem: str = ""
    file: str = ""
    id: str = ""
    time: float = 0.0
    prints: np.ndarray = field(default_factory=lambda: np.empty(0, np.uint64), compare=False, repr=False)

    @property
    def digest(self) -> str:
        return hashlib.sha256((self.source or self.problem).encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def slug(self) -> str:
        return slug(self.name)


def collect(root: Path, stem: str, tasks: Iterable[str] = (), one: bool = False, jobs: int = 1) -> list[Submission]:
    """All submissions for the exercise `stem` (04_allreduce) under a folder or zip, by name. tasks: its functions.

    one: whatever lies there is one submission.
    """
    return collect_class(root, stem, tasks, one, jobs)[0]


def collect_class(
    root: Path, stem: str, tasks: Iterable[str] = (), one: bool = False, jobs: int = 1
) -> tuple[list[Submission], list[str]]:
    """All submissions, and the names of files at the top that are none."""
    if not root.exists():
        raise FileNotFoundError(f"{root} does not exist; name a folder or a zip of submissions")
    with Guard() as guard:
        try:
            found = guard.ask("class", root=str(root.absolute()), stem=stem, one=one)
        except Refused as error:
            raise ValueError(f"{root} holds no submissions that can be read. {error}") from error
    if not found["members"]:
        raise ValueError(f"{root} holds no submissions")
    members = sorted(found["members"], key=lambda m: (shown(m["name"]), m["places"]))
    requests = [{"root": found["root"], "places": m["places"], "stem": stem, "tasks": list(tasks)} for m in members]
    read = read_all(requests, jobs)
    made = [submission(*pair) for pair in zip(members, named_apart(members), read, strict=True)]
    return made, sorted(map(shown, found["stray"]))


def submission(member: dict, name: str, read: dict) -> Submission:
    prints = np.array(read.pop("prints", []), np.uint64)
    return Submission(name, **read, id=shown(member["id"]) if member["id"] else "", time=member["time"], prints=prints)


def named_apart(members: list[dict]) -> list[str]:
    """The name of each; of namesakes, also where their files lie."""
    names = [shown(m["name"]) for m in members]
    count, used, out = Counter(names), set(), []
    for name, member in zip(names, members, strict=True):
        where = shown("/".join(member["places"][0]))
        apart = full = name if count[name] == 1 else f"{name} ({where})"
        number = 1
        while apart in used:
            apart, number = f"{full} {number + 1}", number + 1
        used.add(apart)
        out.append(apart)
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
