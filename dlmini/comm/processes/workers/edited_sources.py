"""Which of a worker's modules are the user's own, and whether their files have been edited since.

A worker imports a module once and keeps it. So each worker says which files of the user's its modules came from, and
how these looked when it imported them; before the next run the parent looks at them again, and if one has changed it
replaces the workers: fresh ones import what is on disk now.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

Stamp = tuple[int, int]  # time of the last change in nanoseconds, and length


@cache
def not_the_users() -> tuple[str, ...]:
    """Folders of Python, of installed packages and of this library."""
    places = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    return *(os.path.realpath(place) + os.sep for place in places), str(Path(__file__).resolve().parents[3]) + os.sep


def stamp(path: str) -> Stamp | None:
    """How the file looks now; None if it is gone."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class Imports:
    """The user's modules of this process, as they come in."""

    def __init__(self):
        self.known = set(sys.modules)

    def fresh(self, since_ns: int) -> dict[str, Stamp | None]:
        """Files imported since the last call. One edited since `since_ns` may have changed after it was read: None."""
        names, self.known = sys.modules.keys() - self.known, set(sys.modules)
        paths = {source_of(sys.modules.get(name)) for name in names} - {None}
        found = {path: stamp(path) for path in paths}
        return {path: look if look and look[0] < since_ns else None for path, look in found.items()}


def source_of(module) -> str | None:
    """The file of a module of the user's own, else None."""
    path = getattr(module, "__file__", None)
    if not path or not path.endswith(".py"):
        return None
    real = os.path.realpath(path)
    return None if real.startswith(not_the_users()) else real


def edited(sources: dict[str, Stamp | None]) -> list[str]:
    """Files that no longer look as they did. Their compiled copies go: Python compares only seconds and lengths."""
    found = [path for path, look in sources.items() if look is None or stamp(path) != look]
    for path in found:
        Path(cache_from_source(path)).unlink(missing_ok=True)
    return found
