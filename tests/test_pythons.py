"""Which Pythons are supported is said in one voice, and all that are here are tried before a change is taken."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parent.parent
LOW, HIGH = map(int, re.search(r'">=3\.(\d+),<3\.(\d+)"', (PROJECT / "pyproject.toml").read_text("utf-8")).groups())
posix = pytest.mark.skipif(os.name != "posix", reason="needs a shell")


@pytest.mark.parametrize("file", ["README.md", "start.py", "course/SYLLABUS.md", "dlmini/doctor/software.py"])
def test_every_place_names_the_supported_versions(file):
    text = (PROJECT / file).read_text(encoding="utf-8")
    assert f"Python 3.{LOW} to 3.{HIGH - 1}" in text
    assert set(re.findall(r"\(3, (\d+)\)", text)) in (set(), {str(LOW), str(HIGH)})


def test_the_workflow_runs_every_supported_version():
    text = (PROJECT / ".github/workflows/ci.yml").read_text(encoding="utf-8")
    assert f"python: {[f'3.{minor}' for minor in range(LOW, HIGH)]}".replace("'", '"') in text


def script(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def pretend(home: Path, version: str, tests_pass: bool = True, ordinary: int = 1) -> None:
    """A Python in pyenv's folder that knows its version, and what start.py comes to."""
    said = f"echo {version.replace('.', ' ')} {ordinary}"
    start = f'echo "$*" >> {home}/asked; echo "{version} in $DLMINI_VENV"; exit {0 if tests_pass else 1}'
    script(home / "versions" / version / "bin/python3", f'case "$1" in start.py) {start};; *) {said};; esac')


@pytest.fixture
def machine(tmp_path):
    """A project with nothing but its .ci, on a machine whose `python3` is this one; its tests are what we say."""
    shutil.copytree(PROJECT / ".ci", tmp_path / ".ci")
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    for tool in ("chromium", "bwrap"):
        script(tmp_path / "bin" / tool, "exit 0")
    for tool in ("bash", "dirname", "nice"):
        (tmp_path / "bin" / tool).symlink_to(shutil.which(tool))
    script(tmp_path / "bin/python3", f'[ "$1" = start.py ] && exit ${{MAIN:-0}}; exec {sys.executable} "$@"')
    script(tmp_path / f"bin/python3.{HIGH - 1}", "echo 'shim: command not found' >&2; exit 127")
    return tmp_path


def ci(machine, **more):
    env = {**os.environ, "PATH": f"{machine}/bin", "PYENV_ROOT": f"{machine}/pyenv", "HOME": f"{machine}"}
    return subprocess.run([machine / ".ci/run"], env=env | more, capture_output=True, text=True)


def other() -> int:
    """The minor version of a supported Python that is not this one."""
    return next(minor for minor in range(LOW, HIGH) if minor != sys.version_info.minor)


@posix
def test_the_newest_of_each_supported_version_is_tried_in_an_environment_of_its_own(machine):
    for version in (f"3.{other()}.2", f"3.{other()}.10", f"3.{LOW - 1}.1", f"3.{HIGH}.0"):
        pretend(machine / "pyenv", version)
    done = ci(machine)
    assert done.returncode == 0, done.stderr
    assert f"3.{other()}.10 in .venv-3.{other()}.10" in done.stdout
    assert f"3.{other()}.2 " not in done.stdout
    assert f"3.{LOW - 1}.1" not in done.stdout + done.stderr
    assert "newer than requires-python allows: not tested" in done.stderr


@posix
@pytest.mark.parametrize("theirs", [True, False])
def test_the_other_environments_are_made_beforehand_and_that_counts_for_nothing(machine, theirs):
    """Each by itself, while the first suite runs: whether it went well is said by the tests in it."""
    pretend(machine / "pyenv", f"3.{other()}.5", tests_pass=theirs)
    done = ci(machine)
    made, *tested = (machine / "pyenv/asked").read_text().splitlines()
    assert made == "start.py test --version"
    assert tested[0].startswith("start.py test tests/sim")
    assert done.stdout.count(f"3.{other()}.5 in .venv") == len(tested)


@posix
def test_a_free_threaded_or_unfinished_python_is_not_tried(machine):
    pretend(machine / "pyenv", f"3.{other()}.5", ordinary=0, tests_pass=False)
    done = ci(machine)
    assert done.returncode == 0
    assert "not tested" in done.stderr


@posix
@pytest.mark.parametrize("main", [0, 1])
@pytest.mark.parametrize("theirs", [True, False])
def test_one_failure_is_said_and_fails_the_whole_after_all_have_run(machine, main, theirs):
    pretend(machine / "pyenv", f"3.{other()}.5", tests_pass=theirs)
    done = ci(machine, MAIN=str(main))
    assert (done.returncode == 0) == (main == 0 and theirs)
    assert f"3.{other()}.5 in .venv" in done.stdout  # whatever became of the first
    assert done.stdout.count("FAILED with exit code 1") == (main == 1) + (not theirs)
    assert ("FAILED on Python" in done.stderr) == (done.returncode != 0)


@posix
@pytest.mark.parametrize("alone", [0, 1])
def test_what_fails_beside_others_is_run_again_alone(machine, alone):
    tests = f'case "$*" in start.py*--last-failed*) exit {alone};; start.py*) exit 1;; esac'
    script(machine / "bin/python3", f'{tests}; exec {sys.executable} "$@"')
    done = ci(machine)
    assert done.returncode == alone
    assert "run again alone" in done.stdout


@pytest.mark.parametrize(
    ("version", "whole", "ours"), [("3.2.1", True, False), (None, True, True), (None, False, False)]
)
def test_an_environment_of_another_python_is_made_anew(tmp_path, version, whole, ours):
    """venv would leave its Python and rewrite the rest."""
    python = tmp_path / ("env/Scripts/python.exe" if os.name == "nt" else "env/bin/python")
    python.parent.mkdir(parents=True)
    whole and python.touch()
    here = version or ".".join(map(str, sys.version_info[:3]))
    (tmp_path / "env/pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {here}\n")
    code = "import start; print(start.ours())"
    env = {**os.environ, "DLMINI_VENV": str(tmp_path / "env")}
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, env=env, capture_output=True, text=True)
    assert done.stdout == f"{ours}\n", done.stderr
