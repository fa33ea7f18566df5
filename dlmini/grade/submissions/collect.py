"""Whose program is which: folders, zips, and the exports of Gradescope and Moodle."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from dlmini.grade.submissions.archive import Entry, entries
from dlmini.grade.submissions.source_text import Unreadable, text_of

MOODLE = re.compile(r"_assignsubmission_(file|onlinetext)_?$")
PROGRAMS = (".py", ".ipynb")


@dataclass(frozen=True)
class Submission:
    """`source` is the text that counts; without one, `problem` says why, in a sentence."""

    name: str
    source: str | None
    problem: str = ""

    @property
    def digest(self) -> str:
        return hashlib.sha256((self.source or self.problem).encode()).hexdigest()[:16]

    @property
    def slug(self) -> str:
        """For names of files: letters (of any script), digits, dot, dash; made unique where something was replaced."""
        plain = re.sub(r"[^\w.-]+", "_", self.name).strip("._")[:60]
        tail = "" if plain == self.name else "-" + hashlib.sha256(self.name.encode()).hexdigest()[:6]
        return (plain or "submission") + tail


def collect(root: Path, stem: str, tasks: Iterable[str] = ()) -> list[Submission]:
    """All submissions for the exercise `stem` (04_allreduce) under a folder or zip, by name. tasks: its functions."""
    if not root.exists():
        raise FileNotFoundError(f"{root} does not exist; name a folder or a zip of submissions")
    found = stripped(entries(root), stem)
    if not found:
        raise ValueError(f"{root} holds no submissions")
    if any(len(e.path) == 1 and e.path[0] in wanted(stem) for e in found):
        return [pick(root.stem if root.is_file() else root.resolve().name, found, stem, tasks)]
    names, groups = gradescope_names(found), {}
    for entry in found:
        if len(entry.path) > 1:
            groups.setdefault(entry.path[0], []).append(Entry(entry.path[1:], entry.read))
        elif entry.path[0].endswith(PROGRAMS):
            groups.setdefault(entry.path[0].rpartition(".")[0], []).append(entry)
    return [pick(names.get(g, MOODLE.sub("", g)), files, stem, tasks) for g, files in sorted(groups.items())]


def wanted(stem: str) -> tuple[str, str]:
    return f"{stem}.py", f"{stem}.ipynb"


def stripped(found: list[Entry], stem: str) -> list[Entry]:
    """Without folders that hold everything: an archive of a folder is that folder."""
    while found and len({e.path[0] for e in found}) == 1 and all(len(e.path) > 2 for e in found):
        found = [Entry(e.path[1:], e.read) for e in found]
    return found


def pick(name: str, files: list[Entry], stem: str, tasks: Iterable[str] = ()) -> Submission:
    """The one file that counts: by its name, nearest to the top; or the only program there is."""
    for entry in files:
        if entry.path[-1] == "unsafe archive":
            return Submission(name, None, f"The archive is refused: {entry.read().decode()}.")
    files = sorted(
        (e for e in files if not any(p.startswith((".", "__MACOSX")) for p in e.path)), key=lambda e: len(e.path)
    )
    for word in wanted(stem):
        for entry in files:
            if entry.path[-1].lower() == word:
                return read(name, entry, stem, tasks)
    programs = [e for e in files if e.path[-1].endswith(PROGRAMS)]
    if len(programs) == 1:
        return read(name, programs[0], stem, tasks)
    seen = ", ".join("/".join(e.path) for e in files[:5]) or "nothing"
    return Submission(name, None, f"{stem}.py was not found; the submission holds {seen}.")


def read(name: str, entry: Entry, stem: str, tasks: Iterable[str] = ()) -> Submission:
    try:
        return Submission(name, text_of(entry.read(), entry.path[-1], tasks, stem))
    except (Unreadable, OSError) as error:
        return Submission(name, None, str(error))


def gradescope_names(found: list[Entry]) -> dict[str, str]:
    """submission_123 -> the student's id or name, from the export's submission_metadata.yml, where there is one."""
    for entry in found:
        if entry.path == ("submission_metadata.yml",):
            text = entry.read().decode("utf-8", "replace")
            blocks = re.findall(r"^(\S+):\n((?:[ ]+.*\n?)+)", text, re.MULTILINE)
            ids = {folder: re.search(r":(?:sid|name):\s*['\"]?([^'\"\n]+)", block) for folder, block in blocks}
            return {folder: match[1].strip() for folder, match in ids.items() if match}
    return {}
