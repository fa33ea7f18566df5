"""What a runner may see: the interpreter, the packages of its exercise, and of the library what a runner is made of.

The rest of the library holds the answers: what an exercise asks for is there, better. And other packages that happen to
be installed beside it hold many more. So both are covered, and only what is named here is laid on top again.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import dlmini

HOUSE = Path(dlmini.__file__).resolve().parent
PATH = [str(HOUSE.parent), str(Path(np.__file__).resolve().parents[1])]
SYSTEM = ["/usr", "/bin", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache", "/nix/store"]
CONTAINING = ["child_processes", "landlock", "limits", "namespaces", "seccomp", "system_calls", "walls"]
RUNNER = ["__init__", "grade/__init__", "grade/runner/__init__", "grade/sandbox/__init__"]
SERVING = ["answers", "host", "imports", "pipes", "remote_comm", "student_module", "values"]
RUNNER += [f"grade/runner/{name}" for name in SERVING]
RUNNER += [f"grade/sandbox/{name}" for name in CONTAINING]
HOMES = [Path(p) for p in ("/home", "/root", "/srv", "/mnt", "/media", "/opt", "/tmp", "/var/tmp")]
PLACES = ["lib*/python3*/site-packages", "lib*/python3*/dist-packages", "local/lib*/python3*/*-packages"]


def interpreter() -> list[str]:
    """Where Python itself lies."""
    return [sys.base_prefix, sys.prefix, str(Path(sys.executable).resolve().parents[1])]


def runner_files() -> list[str]:
    """The library's files that a runner is made of: none of them could do an exercise."""
    return [str(HOUSE / f"{name}.py") for name in RUNNER]


@cache
def covered() -> tuple[Path, ...]:
    """Folders of which a runner sees only what is laid on top: the library, and wherever packages are installed."""
    found = {
        Path(PATH[1]),
        *(place for root in ("/usr", *interpreter()) for p in PLACES for place in Path(root).glob(p)),
    }
    outer = {place.resolve() for place in found} - {HOUSE}
    return tuple(sorted(place for place in {*outer, HOUSE} if not outer & set(place.parents)))


@cache
def packages_of(names: tuple[str, ...]) -> list[str]:
    """The files of these packages."""
    found = []
    for name in names:
        spec = find_spec(name)
        if spec is None or not spec.origin:
            raise ValueError(f"the exercise may use {name}, which is not installed here")
        home = Path(spec.origin).resolve()
        home = home.parent if home.name == "__init__.py" else home
        found += [home, home.parent / f"{name}.libs", *home.parent.glob(f"{name}-*.dist-info")]
    return [str(path) for path in found if path.exists()]


def shown(names: tuple[str, ...] = ("numpy",)) -> list[str]:
    """All that is bound into a sandbox; what lies in a covered folder comes after that is covered."""
    return [*interpreter(), *packages_of(names), *runner_files()]


def above(paths: list[str]) -> list[str]:
    """Every folder on the way to these paths, outermost first: made by hand, because all users must pass through."""
    return sorted({str(parent) for path in paths for parent in Path(path).parents} - {"/", "/tmp"}, key=len)


@cache
def readable(names: tuple[str, ...]) -> dict:
    """Where bubblewrap does not cover files, Landlock forbids them: all but these may not even be opened.

    A right to a folder is one to everything in it, so the way to a covered folder is taken apart into its neighbours.
    To find a package, Python lists the folder it lies in; NumPy has been found before.
    """
    roots = [path for path in (*SYSTEM, *interpreter()) if Path(path).exists()]
    around = [neighbour for root in roots for neighbour in beside(Path(root).resolve(), covered())]
    return {
        "read": [*map(str, dict.fromkeys(around)), *packages_of(names)],
        "listed": PATH[1:] if set(names) - {"numpy"} else [],
    }


@cache
def hidden(names: tuple[str, ...]) -> list[str]:
    """For kernels with namespaces and without Landlock: folders over which an empty one is mounted.

    The library and its neighbours, other packages, and where people keep their files; but not the way to what a runner
    needs, which is taken apart.
    """
    needed = {Path(path).resolve() for path in (*interpreter(), *packages_of(names))}
    places = [*HOMES, HOUSE.parent, *covered()]
    found = [folder for place in places if place.is_dir() for folder in apart_from(place.resolve(), needed)]
    return [str(folder) for folder in dict.fromkeys(found)]


def apart_from(root: Path, needed: set[Path]) -> list[Path]:
    """As few folders as possible that hold everything below the root but what is needed."""
    if root in needed:
        inner = [place for place in covered() if root in place.parents]
        return [folder for place in inner for folder in apart_from(place, needed)]
    if not any(root in path.parents for path in needed):
        return [root]
    below = [child for child in root.iterdir() if child.is_dir() and not child.is_symlink()]
    return [folder for child in below for folder in apart_from(child, needed)]


def beside(root: Path, hidden: tuple[Path, ...]) -> list[Path]:
    """As few paths as possible that hold everything below the root but what is hidden."""
    if root in hidden:
        return []
    if not any(root in place.parents for place in hidden):
        return [root]
    return [path for child in root.iterdir() if not child.is_symlink() for path in beside(child, hidden)]


def passable(path: str) -> bool:
    """May every user go there?"""
    return all(folder.stat().st_mode & 0o001 for folder in [Path(path), *Path(path).parents] if folder.is_dir())
