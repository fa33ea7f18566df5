"""What a runner may see: the interpreter, its packages, and the house without its lessons."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dlmini

HOUSE = Path(dlmini.__file__).resolve().parent
PATH = [str(HOUSE.parent), str(Path(np.__file__).resolve().parents[1])]
HIDDEN = HOUSE / "lessons"  # what exercises are tested for, and much that they ask for
SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache", "/nix/store"]


def shown() -> list[str]:
    """The interpreter, its packages and the library."""
    return [sys.base_prefix, sys.prefix, str(Path(sys.executable).resolve().parents[1]), PATH[1], str(HOUSE)]


def above(paths: list[str]) -> list[str]:
    """Every folder on the way to these paths, outermost first: made by hand, because all users must pass through."""
    return sorted({str(parent) for path in paths for parent in Path(path).parents} - {"/", "/tmp"}, key=len)


def readable() -> dict:
    """Where bubblewrap does not hide files, Landlock forbids them: all but these may not even be opened."""
    rooms = [room for room in HOUSE.iterdir() if room != HIDDEN]
    read = [*SYSTEM, *(path for path in shown() if path != str(HOUSE)), *map(str, rooms), "/proc"]
    return {"read": read, "listed": [str(HOUSE)]}


def passable(path: str) -> bool:
    """May every user go there?"""
    return all(folder.stat().st_mode & 0o001 for folder in [Path(path), *Path(path).parents])
