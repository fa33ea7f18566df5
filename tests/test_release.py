"""What is given away: a wheel with the whole course in it, a source package to build it from, and one version number.

A wheel is a zip file: it is built once, unpacked, and used from an empty folder as an installed package is.
"""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import dlmini
from dlmini.course.book.bind import NEEDED, bind

pytest.importorskip("hatchling", reason="the wheel is built by hatchling: pip install hatchling")
PROJECT = Path(__file__).parents[1]
CARRIED = "dlmini/course/carried"
PLACES = ("here", "build/book")
UNWANTED = {"__pycache__", ".ipynb_checkpoints"}


def files(folder: str) -> set[str]:
    """What lies in a folder of the clone, relative to the clone, without what programs leave there."""
    found = (file.relative_to(PROJECT) for file in (PROJECT / folder).rglob("*") if file.is_file())
    return {file.as_posix() for file in found if not UNWANTED & {*file.parts}}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> dict[str, Path]:
    """Wheel and source package, by their endings."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {"whl": next(folder.glob("*.whl")), "gz": next(folder.glob("*.tar.gz"))}


@pytest.fixture(scope="module")
def wheel(built, tmp_path_factory) -> Path:
    """The wheel, unpacked: what pip would put among the packages."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(built["whl"]) as package:
        package.extractall(folder)
    return folder


def inside(folder: Path) -> set[str]:
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


def test_the_wheel_has_every_file_of_the_package_the_notebooks_the_exercises_and_the_texts(wheel):
    wanted = files("dlmini") | {
        f"{CARRIED}/{name}" for part in ("notebooks", "exercises", "course") for name in files(part)
    }
    assert wanted - inside(wheel) == set()


def test_the_wheel_has_no_solution_and_no_test(wheel):
    besides = {name for name in inside(wheel) if not name.startswith("dlmini/")}
    assert {name.split("/")[0] for name in besides} == {f"dlmini-{dlmini.__version__}.dist-info"}
    assert not [name for name in inside(wheel) if "/solutions/" in name or "SOLUTION" in name]
    marked = [name for name in inside(wheel) if name.startswith(f"{CARRIED}/exercises")]
    assert not [name for name in marked if "BEGIN SOLUTION" in (wheel / name).read_text(encoding="utf-8")]


def test_the_wheel_says_what_it_is_and_brings_the_lab(wheel):
    facts = (wheel / f"dlmini-{dlmini.__version__}.dist-info" / "METADATA").read_text(encoding="utf-8")
    always = [line for line in re.findall(r"^Requires-Dist: (.+)$", facts, re.M) if "extra ==" not in line]
    assert {"numpy", "numba", "jupyterlab", "anywidget", "httpx"} <= {re.match(r"[\w-]+", line)[0] for line in always}
    assert "License-File: LICENSE" in facts


def test_the_source_package_has_all_that_a_clone_has(built):
    with tarfile.open(built["gz"]) as package:
        names = {name.partition("/")[2] for name in package.getnames()}
    folders = ("dlmini", "course", "notebooks", "exercises", "solutions", "tests", "docs", "benchmarks")
    assert set().union(*map(files, folders)) - names == set()
    assert {"README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "start.py", "pyproject.toml"} <= names


def run(wheel: Path, here: Path, *words: str) -> str:
    """A command of the unpacked wheel in a folder without a clone above it."""
    env = {name: value for name, value in os.environ.items() if name != "DLMINI_WORK"}
    env |= {"PYTHONPATH": str(wheel), "HOME": str(here), "COLUMNS": "200"}
    command = [sys.executable, "-m", "dlmini", *words]
    done = subprocess.run(command, cwd=here, env=env, capture_output=True, text=True, timeout=300)
    return done.stdout + done.stderr


def test_from_an_empty_folder_the_wheel_gives_the_whole_course_and_checks_exercises(wheel, tmp_path):
    said = run(wheel, tmp_path, "update")
    course = tmp_path / "dlmini-course"
    assert inside(course) >= files("notebooks") | files("exercises"), said
    assert "not done yet" in run(wheel, course, "check", "00")
    assert run(wheel, course, "--version") == f"dlmini {dlmini.__version__}\n"


def test_from_an_empty_folder_the_wheel_prints_the_book_that_a_clone_prints(wheel, tmp_path):
    for needed in NEEDED:
        pytest.importorskip(needed, reason=f'the book needs {needed}: pip install -e ".[book]"')
    said = run(wheel, tmp_path, "course", "book", "--no-run")
    bind(PROJECT, tmp_path / "here", run=False, tell=lambda line: None)
    here, there = ({file.name: file.read_bytes() for file in (tmp_path / part).glob("*.html")} for part in PLACES)
    assert len(here) > 18
    assert there == here, said


def test_version_and_date_are_said_in_one_voice():
    said = (PROJECT / "CITATION.cff").read_text(encoding="utf-8")
    version, date = (re.search(rf"^{name}: (\S+)$", said, re.M)[1] for name in ("version", "date-released"))
    latest = re.search(r"^## (\S+) \((\S+)\)$", (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert (version, date) == latest.groups()
    assert version == dlmini.__version__
