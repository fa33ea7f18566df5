"""The rules of the house, read from the sources: who imports whom, where compiled code lives, what words are absent."""

import ast
from pathlib import Path

import pytest

import dlmini

HOUSE = Path(dlmini.__file__).parent
PROJECT = HOUSE.parent
FILES = sorted(HOUSE.rglob("*.py"))

# room -> what it may import of the house. `jit`, `files` and `checks` are foundation stones: every room may use them.
MAY = {
    "jit": {"__init__"},
    "files": set(),
    "checks": set(),
    "nn": set(),
    "optim": set(),
    "compression": set(),
    "events": set(),
    "data": set(),
    "comm": {"events", "compression.packets", "worker_start"},
    "sim": {"comm", "events"},
    "alone": {"data"},
    "sync": set(),
    "memory": set(),
    "topology": {"comm.schedules", "compression.packets", "events", "memory"},
    "recipe": {"sync", "topology", "compression", "optim"},
    "task": {"nn", "data"},
    "loop": {"events", "memory", "topology.turn"},
    "written": {"recipe", "sync", "topology", "compression", "optim", "comm"},
    "outcome": {"events", "recipe", "written"},
    "checkpoints": {"events", "recipe", "written"},
    "run": {"loop", "recipe", "comm", "sim", "events", "outcome", "checkpoints", "topology", "aside", "history"},
    "aside": set(),
    "history": {"events"},
    "profile": set(),
    "preload": {"worker_start", "comm"},
    "worker_start": {"comm"},
    "studies": {"events", "run", "recipe", "sim", "show", "data", "nn", "optim", "sync", "task", "topology"},
    "course": {"comm", "sim", "optim", "grade.check", "grade.hints"},
    "doctor": {"comm", "course.warm"},
    "grade": {"comm", "sim", "events", "lessons"},
    "configurations": {"run", "recipe", "sync", "topology", "compression"},
}
ANYTHING = {"__init__", "__main__", "cli", "commands", "lessons", "show", "words", "terminal"}
DRAWING = "show lessons"
ONLY_IN = {"multiprocess": "comm", "mpi4py": "comm", "matplotlib": DRAWING, "ipywidgets": DRAWING, "greenlet": "sim"}


def imports(file):
    """Every module that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{file}: imports are written in full"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(file):
    parts = file.relative_to(HOUSE).with_suffix("").parts
    return parts[0]


def test_every_room_has_its_rule():
    assert {room(f) for f in FILES} <= {*MAY, *ANYTHING}


@pytest.mark.parametrize("name", MAY)
def test_a_room_imports_only_what_the_design_allows(name):
    allowed = {name, "jit", "files", "checks", *MAY[name]}
    for file in (f for f in FILES if room(f) == name):
        inside = {m.removeprefix("dlmini.") for m in imports(file) if m.startswith("dlmini.")}
        bad = {m for m in inside if not any(m == a or m.startswith(a + ".") for a in allowed)}
        assert not bad, f"{file.relative_to(HOUSE)} imports {sorted(bad)}"


def test_figures_read_events_and_start_nothing():
    """Only dashboards, and what belongs to one lesson, know how a run is started. Cards of guesses know the guesses."""
    for file in (HOUSE / "show").glob("*.py"):
        inside = {m.removeprefix("dlmini.") for m in imports(file) if m.startswith("dlmini.")}
        if not file.stem.startswith(("dashboard", "live_run", "replay")):
            allowed = ("show", "events", "comm.schedules", "profile", "checks", "course.guess")
            assert all(m.startswith(allowed) or m == "course" for m in inside), file.name


def test_kernels_do_not_know_the_layers_they_serve():
    for file in (HOUSE / "nn" / "kernels").glob("*.py"):
        inside = {m for m in imports(file) if m.startswith("dlmini.")}
        assert all(m.startswith(("dlmini.nn.kernels", "dlmini.jit")) for m in inside), file.name


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
