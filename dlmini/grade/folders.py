"""Where results may go: never among hand-ins, and never among results of another kind.

A folder of grades and a folder of a leaderboard are known by a file of theirs. Grades may lie in a folder of their own
at the top of the class's folder, where they are no hand-in; everywhere else in it they would be taken for one, or take
one's place. Around it they would lie beside it, and one of their folders may have its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

GRADES, BOARD = "grades", "a leaderboard"
BEGUN = "secret.txt"  # what both kinds have first
MARKS = {GRADES: "journal.jsonl", BOARD: "leaderboard.csv"}


def refuse_mixing(out: Path, roots: Iterable[Path], kind: str) -> None:
    """Before anything is written or read: ValueError, if results of this kind would mix with something else."""
    name = f"name a new folder, as -o {'board' if kind == BOARD else 'grades'}-2"
    if out.exists() and not out.is_dir():
        raise ValueError(f"-o {out} is a file, and {kind} need a folder; {name}")
    for other, mark in MARKS.items():
        if other != kind and (out / mark).is_file():
            raise ValueError(f"-o {out} holds {other} already, which {kind} would mix with; {name}")
    for root in roots:
        for other, mark in MARKS.items():
            if (root / mark).is_file() and (root / BEGUN).is_file():  # one of them a student may have handed in
                raise ValueError(f"{root} holds {other}, not submissions; name the folder or zip of hand-ins")
        if sentence := overlapping(out.resolve(), root.resolve(), kind):
            raise ValueError(f"-o {out} {sentence}; {name}")


def overlapping(out: Path, root: Path, kind: str) -> str:
    """How the folder of results and that of hand-ins are in each other's way; nothing, if they are not."""
    if out == root:
        return "is the folder of the hand-ins itself"
    if out in root.parents:
        return "lies around the hand-ins, and results would lie among them" if root.is_dir() else ""
    if root not in out.parents:
        return ""
    if out.parent != root:
        return "lies inside a folder of the hand-ins, perhaps a student's"
    if out.is_dir() and any(out.iterdir()) and not any((out / mark).is_file() for mark in (MARKS[kind], BEGUN)):
        return "is a folder among the hand-ins, perhaps a student's"
    return ""
