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
ROWS = dict(zip(("SYLLABUS", "index"), re.findall(r"^```text\n(.*?)^```$", PAGE, re.M | re.S), strict=True))
LIBRARY = re.search(r"At the end of that file:\n\n```python\n(.*?)```", PAGE, re.S)[1]
COMMANDS = re.search(r"```sh\n(.*?)```", PAGE, re.S)[1].splitlines()
COPIED = ("dlmini", "course", "solutions", "exercises", "notebooks", "docs", "tests/grade", "tests/course")
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
    for name, row in ROWS.items():
        edit(root / "course" / f"{name}.md", r"\| 17 \|.*\n", lambda found, row=row: found[0] + row)
    edit(root / "course" / "SYLLABUS.md", r"\| \*\*one term\*\*.*?, 17", lambda found: f"{found[0]}, 99")
    with (root / "tests" / "grade" / "library_answers.py").open("a", encoding="utf-8") as file:
        file.write(f"\n\n{LIBRARY}")
    return root


def edit(file, pattern, change):
    """The first place that fits is changed."""
    text, count = re.subn(pattern, change, file.read_text(encoding="utf-8"), count=1)
    assert count
    file.write_text(text, encoding="utf-8")


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
    assert done[5].returncode == 0, done[5].stdout
    assert "NotImplementedError" in (clone / "exercises" / "99_rumours.py").read_text(encoding="utf-8")


def test_the_library_can_answer_and_is_not_there_to_be_asked(clone):
    chosen = "every_lesson_is_in_the_table or (99 and (temptations or does_no_exercise))"
    done = run(clone, "-m", "pytest", "-q", "tests/grade/test_grade_library_answers.py", "-k", chosen)
    assert done.returncode == 0, done.stdout


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
