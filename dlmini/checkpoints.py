"""Checkpoints on disk: all that all ranks remembered after a round, in one plain file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from dlmini import files
from dlmini.events import Checkpoint
from dlmini.recipe import Recipe
from dlmini.written import read

MAY_DIFFER = ("rounds", "look", "everyone", "keep")


class Checkpoints:
    """Gathers what ranks send, and writes `round-000012.npz` as soon as every rank's part of a round is there.

    A file is complete or absent: it gets its name when its last byte is written.
    """

    def __init__(self, folder, size: int, recipe: Recipe):
        self.folder, self.size, self.recipe, self.parts = Path(folder), size, recipe, {}
        self.folder.mkdir(parents=True, exist_ok=True)

    def hear(self, event: Checkpoint) -> Path | None:
        parts = self.parts.setdefault(event.t, {})
        parts[event.rank] = event.memory
        return self.write(event.t, self.parts.pop(event.t)) if len(parts) == self.size else None

    def write(self, t: int, parts: dict[int, dict]) -> Path:
        arrays = {f"{rank}:{name}": array for rank, memory in parts.items() for name, array in memory.items()}
        file = self.folder / f"round-{t + 1:06}.npz"
        said = {"t": t, "size": self.size, "recipe": repr(self.recipe)}
        return files.write(file, lambda stream: np.savez(stream, **said, **arrays))


def newest(place) -> Path:
    """The file itself, or the last one of a folder."""
    place = Path(place)
    files = sorted(place.glob("round-*.npz")) if place.is_dir() else [place]
    if not files or not files[-1].is_file():
        raise FileNotFoundError(f"there is no checkpoint in {place}; train with Recipe(keep=...) and folder= first")
    return files[-1]


def memories(place, size: int, recipe: Recipe) -> list[dict[str, np.ndarray]]:
    """What each rank is to remember; refuses a checkpoint of another recipe or another number of ranks."""
    with np.load(newest(place), allow_pickle=False) as file:
        kept, ranks = read(str(file["recipe"])), int(file["size"])
        free = {name: getattr(recipe, name) for name in MAY_DIFFER}
        if ranks != size or replace(kept, **free) != recipe:
            raise ValueError(f"the checkpoint was made by {kept} on {ranks} ranks; resume with the same, or begin anew")
        if int(file["t"]) + 1 >= recipe.rounds:
            raise ValueError(f"the checkpoint was made after round {int(file['t']) + 1}; ask for more rounds than that")
        found = [{"t": file["t"]} for _ in range(size)]
        for key in (key for key in file.files if ":" in key):
            rank, _, name = key.partition(":")
            found[int(rank)][name] = file[key]
    return found
