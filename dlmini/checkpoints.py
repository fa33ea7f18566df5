"""Checkpoints on disk: all that all ranks remembered after a round, in one plain file.

    round-000012.npz    "checkpoint"   what it is, as JSON: format, version, round, ranks, recipe, task, arrays' names
                        "0:w" ...      what each rank remembers, by rank and name; counted among those that remember
Numbers and text only: no pickles, nothing in it is executed.
"""

from __future__ import annotations

import json
import re
import warnings
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dlmini import files
from dlmini.events import Checkpoint
from dlmini.recipe import Recipe
from dlmini.recipe_text import read, write

FORMAT, VERSION = "dlmini checkpoint", 2  # version 1 had no header, and knew no tasks
NAME = re.compile(r"round-(\d+)\.npz")


class Unusable(ValueError):
    """A file that no run can go on from."""


class Checkpoints:
    """Gathers what ranks send, and writes `round-000012.npz` as soon as every rank's part of a round is there.

    A file is complete or absent: it gets its name when its last byte is written. A recipe that could not be read back
    is refused here, before anything has run.
    """

    def __init__(self, folder, size: int, recipe: Recipe, task):
        self.folder, self.keepers, self.parts = Path(folder), recipe.keepers(size), {}
        said = {
            "format": FORMAT,
            "version": VERSION,
            "size": len(self.keepers),
            "recipe": written(recipe) if recipe.checkpoint_every else "",
        }
        self.said = said | {"task": fingerprint(task, size, recipe)}
        self.written: Path | None = None  # the last file
        self.folder.mkdir(parents=True, exist_ok=True)
        files.demand_place(self.folder / "round-000000.npz")

    def hear(self, event: Checkpoint) -> Path | None:
        parts = self.parts.setdefault(event.t, {})
        parts[self.keepers.index(event.rank)] = event.memory
        return self.write(event.t, self.parts.pop(event.t)) if len(parts) == len(self.keepers) else None

    def write(self, t: int, parts: dict[int, dict]) -> Path:
        arrays = {f"{keeper}:{name}": array for keeper, memory in parts.items() for name, array in memory.items()}
        said = json.dumps({**self.said, "t": t, "arrays": sorted(arrays)})
        file = self.folder / f"round-{t + 1:06}.npz"
        self.written = files.write(file, lambda stream: np.savez(stream, checkpoint=said, **arrays))
        return self.written


def written(recipe: Recipe) -> str:
    """The recipe as text, read back before anybody relies on it."""
    try:
        text = write(recipe)
        same = read(text) == recipe
    except ValueError as error:
        raise ValueError(
            f"no run could go on from a checkpoint of this recipe: {error}; or leave checkpoint_every= out"
        ) from error
    if not same:
        raise ValueError(f"{recipe} is read back from a checkpoint as {read(text)}; leave checkpoint_every= out")
    return text


def fingerprint(task, size: int, recipe: Recipe) -> dict[str, str]:
    """What the task says of itself, or what can be seen of it."""
    if hasattr(task, "fingerprint"):
        return task.fingerprint(recipe.parts(task, size), recipe.seed)
    return {name: str(getattr(task, name)) for name in ("size", "shapes", "batch") if hasattr(task, name)}


class Kept(NamedTuple):
    """What a file holds."""

    file: Path
    t: int
    size: int
    recipe: Recipe
    task: dict[str, str]
    memories: list[dict[str, np.ndarray]]


def load(file: Path) -> Kept:
    """All of a file, or one sentence about what is wrong with it."""
    try:
        with open(file, "rb") as stream, np.load(stream, allow_pickle=False) as opened:
            said = header(file, opened)
            recipe, task, memories = read(said["recipe"]), dict(said["task"]), by_rank(opened, said)
            if not hasattr(recipe, "keepers"):
                raise ValueError(f"its recipe is {recipe!r}")
            return Kept(file, int(said["t"]), len(memories), recipe, task, memories)
    except Unusable:
        raise
    except files.DAMAGED as error:
        raise Unusable(f"{file} is no checkpoint, or it is damaged ({files.why(error)}); take another") from error


def by_rank(opened, said: dict) -> list[dict[str, np.ndarray]]:
    """What each rank remembers, by name; every rank must have its part."""
    found: dict[int, dict] = {}
    for key in said["arrays"]:
        rank, _, name = key.partition(":")
        found.setdefault(int(rank), {"t": np.array(int(said["t"]))})[name] = opened[key]
    if sorted(found) != list(range(len(found))) or len(found) != said["size"]:
        raise ValueError(f"it holds ranks {sorted(found)} of {said['size']}")
    return [found[rank] for rank in sorted(found)]


def header(file: Path, opened) -> dict:
    """What a checkpoint says about itself."""
    if {"t", "size", "recipe"} <= set(opened.files):
        raise Unusable(f"{file} has version 1, this dlmini reads {VERSION}; resume it with the dlmini that wrote it")
    said = json.loads(str(opened["checkpoint"]))
    if said["format"] != FORMAT:
        raise ValueError(f"its format is {said['format']!r}")
    if said["version"] != VERSION:
        raise Unusable(f"{file} has version {said['version']}, this dlmini reads {VERSION}; use the one that wrote it")
    return said


def newest(place) -> Path:
    """The file itself, or the last one of a folder."""
    return candidates(place)[0]


def candidates(place) -> list[Path]:
    """The file itself, or those of a folder, newest first."""
    place = Path(place)
    if place.is_dir():
        found = {file: NAME.fullmatch(file.name) for file in place.iterdir()}
        ordered = sorted((file for file in found if found[file]), key=lambda file: -int(found[file][1]))
    else:
        ordered = [place] if place.exists() else []
    if not ordered:
        raise FileNotFoundError(
            f"there is no checkpoint in {place}; train with checkpoint_every=... in the recipe and folder= first"
        )
    return ordered


def newest_good(place) -> Kept:
    """The newest that can be read; a warning names those that cannot."""
    bad = []
    for file in candidates(place):
        try:
            kept = load(file)
        except Unusable as error:
            bad.append(str(error))
            continue
        if bad:
            warnings.warn(f"going on from {kept.file}, for newer ones are bad: {'; '.join(bad)}", stacklevel=5)
        return kept
    raise Unusable("; ".join(bad))


def parts(number: int) -> str:
    return f"{number} rank" + "s" * (number != 1)


def same(kept, recipe) -> bool:
    """Whether a run by this recipe may go on where that one has ended."""
    free = {name: getattr(recipe, name) for name in recipe.may_differ}
    return type(kept) is type(recipe) and replace(kept, **free) == recipe


MEANS = {  # what is kept of it is a digest, which tells a reader nothing
    "split": "(rows were dealt out to another number of workers, or by another rule; with Grid(shard=n) there are n)",
}


def memories(place, size: int, recipe: Recipe, task) -> list[dict[str, np.ndarray]]:
    """What each rank is to remember; refuses a checkpoint of another recipe, another task or other ranks."""
    kept, wanted = newest_good(place), len(recipe.keepers(size))
    if not same(kept.recipe, recipe):
        raise ValueError(f"the checkpoint was made by {kept.recipe}; resume with the same, or begin anew")
    if kept.size != wanted:
        raise ValueError(
            f"the checkpoint keeps the memories of {parts(kept.size)}, and here {parts(wanted)} would have to go on "
            "from it (ranks that hold one network together count as one); resume with the same number, or begin anew"
        )
    here = fingerprint(task, size, recipe)
    for name in here | kept.task:
        if kept.task.get(name) != here.get(name):
            what = MEANS.get(name) or f"({kept.task.get(name)}, here it is {here.get(name)})"
            raise ValueError(
                f"the checkpoint was made with another {name} {what}; resume with the same task, or begin anew"
            )
    if kept.t + 1 >= recipe.rounds:
        raise ValueError(f"the checkpoint was made after round {kept.t + 1}; ask for more rounds than that")
    return kept.memories
