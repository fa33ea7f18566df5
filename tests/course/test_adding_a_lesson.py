"""docs/adding_a_lesson.md, followed to the letter in a copy of the clone: its files written, its commands run."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "adding_a_lesson.md").read_text(encoding="utf-8")
FILES = re.findall(r"^\*\*`([^`]+)`\*\*\n\n(`{3,4})\w+\n(.*?)^\2$", PAGE, re.M | re.S)
COMMANDS = re.search(r"```sh\n(.*?)```", PAGE, re.S)[1].splitlines()
COPIED = ("dlmini", "course", "solutions", "exercises", "notebooks", "docs", "tests/grade")
ALONE = ("tests/conftest.py", "tests/examples.py", "pyproject.toml")


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A copy of what the page touches, and the page's files in it."""
    root = tmp_path_factory.mktemp("clone")
    for name in COPIED:
        shutil.copytree(PROJECT / name, root / name)
    for name in ALONE:
        shutil.copy(PROJECT / name, root / name)
    for name, _, text in FILES:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def run(root, *words):
    env = {**os.environ, "PYTHONPATH": str(root), "DLMINI_WORK": str(root)}
    done = subprocess.run([sys.executable, *words], cwd=root, env=env, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done


def test_six_files_make_a_lesson():
    assert len(FILES) == 6
    assert not any((PROJECT / name).exists() for name, *_ in FILES)


def test_the_commands_of_the_page_make_and_grade_it(clone):
    done = [run(clone, *command.split()[1:]) for command in COMMANDS]
    assert [(d.returncode, d.stderr) for d in done[:3]] == [(0, "")] * 3
    assert "not done yet" in done[3].stdout
    assert "6 passed" in done[4].stdout  # solution, stub, three wrong answers, and that they are enough
    assert "NotImplementedError" in (clone / "exercises" / "99_rumours.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(("written", "said"), [("solutions", "This was your rounds_needed"), ("exercises", "Not done")])
def test_the_notebook_runs_with_the_exercise_done_and_not_done(clone, written, said, tmp_path):
    """Its cells, one after the other, as a script."""
    run(clone, *COMMANDS[0].split()[1:])
    run(clone, *COMMANDS[1].split()[1:])
    shutil.copytree(clone / written, tmp_path / "exercises")
    book = json.loads((clone / "notebooks" / "99_rumours.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    *before, last = "\n".join(cells).splitlines()
    script = f"import os; os.environ['DLMINI_WORK'] = {str(tmp_path)!r}\n" + "\n".join([*before, f"assert not {last}"])
    done = run(clone, "-c", script)
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout
