"""The rules of the house, read from the sources: who imports whom, where compiled code lives, what words are absent."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

import dlmini

HOUSE = Path(dlmini.__file__).parent
PROJECT = HOUSE.parent
FILES = sorted(HOUSE.rglob("*.py"))

OUTSIDE = {"__init__", "__main__"}  # the doors
DRAWING = "show lessons"
ONLY_IN = dict.fromkeys(("multiprocess", "mpi4py", "zmq"), "comm") | {"greenlet": "sim"}
ONLY_IN |= dict.fromkeys(("matplotlib", "ipywidgets"), DRAWING)


@cache
def imports(file):
    """Every module that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: imports are written in full"
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


ROOMS = (PROJECT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("\n## Rooms")[1].split("\n## ")[0]
FREE = tuple(re.findall(r"`(\w+)`", re.search(r"Every room may import (.*?)\.\n", ROOMS)[1]))


def rules():
    """The table of ARCHITECTURE.md: room -> what it may import of the house, None for anything that is public."""
    found = {}
    for line in ROOMS.splitlines():
        if line.startswith("| `"):
            rooms, _, may = line.strip("|").split(" | ")
            allowed = None if "public names" in may else set(re.findall(r"`([\w.]+)`", may))
            found |= {name.strip("/").removesuffix(".py").replace("/", "."): allowed for name in rooms.split("`")[1::2]}
    return found


RULES = rules()


def is_in(module, room):
    return module == room or module.startswith(room + ".")


def room(file):
    """The smallest room of the table in which a file lies."""
    name = ".".join(file.relative_to(HOUSE).with_suffix("").parts)
    return max((r for r in RULES if is_in(name, r)), key=len, default=name)


def inside(file):
    """What a file imports of the house."""
    return {m.removeprefix("dlmini.") for m in imports(file) if m.startswith("dlmini.")}


def test_the_table_names_every_room_and_none_that_is_gone():
    assert {room(f) for f in FILES} - OUTSIDE == set(RULES)


@pytest.mark.parametrize("name", [name for name, may in RULES.items() if may is not None])
def test_a_room_imports_only_what_the_table_allows(name):
    for file in (f for f in FILES if room(f) == name):
        bad = {m for m in inside(file) if not any(is_in(m, a) for a in {name, *FREE, *RULES[name]})}
        assert not bad, f"{file.relative_to(HOUSE)} imports {sorted(bad)}"


def test_figures_read_events_and_start_nothing():
    """Only dashboards, and what belongs to one lesson, know how a run is started. Cards of guesses know the guesses."""
    for file in (HOUSE / "show").glob("*.py"):
        if not file.stem.startswith(("dashboard", "live_run", "replay")):
            allowed = ("show", "events", "comm.schedules", "profile", "course.guess", *FREE)
            assert all(m.startswith(allowed) or m == "course" for m in inside(file)), file.name


def test_numba_is_named_only_in_kernels():
    for file in FILES:
        named = {m.split(".")[0] for m in imports(file)} & {"numba", "llvmlite"}
        at_home = "kernels" in (*file.parent.parts, file.stem) or file.name == "jit.py"
        assert not named or at_home, f"{file.relative_to(HOUSE)} imports {named}"


def test_each_backend_library_stays_in_its_room():
    for file in FILES:
        for library, home in ONLY_IN.items():
            used = any(m.split(".")[0] == library for m in imports(file))
            assert not used or room(file) in home.split(), f"{file.relative_to(HOUSE)} imports {library}"


def test_every_module_says_what_it_is():
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        assert not text.strip() or ast.get_docstring(ast.parse(text)), f"{file.relative_to(HOUSE)} has no docstring"


def test_public_names_exist():
    for name in dlmini.__all__:
        assert getattr(dlmini, name) is not None
    with pytest.raises(AttributeError, match="no name"):
        _ = dlmini.nonsense


def test_bundled_data_keeps_its_licences():
    for folder in (HOUSE / "data" / "bundled").iterdir():
        if folder.is_dir() and folder.name != "__pycache__":
            assert list(folder.glob("LICENSE*")), folder


def test_greenlets_are_made_in_one_place():
    """Where they are given a stack that may be looked up; see sim/engine.py."""
    assert [f.name for f in FILES if "greenlet.greenlet" in imports(f)] == ["engine.py"]


def test_the_way_of_a_gradient_has_at_most_twelve_steps_and_each_is_a_file():
    told = (
        (PROJECT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("\n## One gradient's way")[1].split("\n## ")[0]
    )
    steps = re.findall(r"^\| (\d+) \| .* \| (.*) \|$", told, re.MULTILINE)
    assert [int(number) for number, _ in steps] == list(range(1, len(steps) + 1))
    assert 1 < len(steps) <= 12
    for number, where in steps:
        files = re.findall(r"`([\w/.]+)`", where)
        assert files, f"step {number} names no file"
        assert [file for file in files if not (HOUSE / file).exists()] == []
