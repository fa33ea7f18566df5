"""Lessons become notebooks: the same bytes every time, without outputs, and nothing else is accepted as them."""

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest

from dlmini.course import build
from dlmini.course.lessons import lesson, shown, written
from dlmini.course.notebook import notebook
from dlmini.course.updating import PARTS

PROJECT = Path(__file__).parents[2]
LESSON = """# 00 · First things

What is first?

```{code-cell} ipython3
:tags: [raises-exception]
1 / 0
```

See [the second](01_second.md#there), [not a lesson](README.md), [a study](../docs/study.md#there).

```{code-cell} ipython3
1 / 0
```
"""
SOLUTION = "def f(x):\n    ### BEGIN SOLUTION\n    return 42\n    ### END SOLUTION\n"


@pytest.fixture
def root(tmp_path):
    """A course with one lesson."""
    for folder in ("course", "notebooks", "solutions", "exercises"):
        (tmp_path / folder).mkdir()
    (tmp_path / "course" / "00_first.md").write_text(LESSON, encoding="utf-8")
    (tmp_path / "course" / "README.md").write_text("no lesson")
    (tmp_path / "course" / "index.md").write_text("# Course\n\nHello.\n\n<!-- lessons -->\n")
    (tmp_path / "solutions" / "00_first.py").write_text(SOLUTION)
    build.build(tmp_path)
    build.cut(tmp_path)
    return tmp_path


def cells(root, name="00_first"):
    return json.loads((root / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]


def test_what_is_committed_is_what_the_sources_make():
    assert build.problems(PROJECT) == []


def test_every_link_of_every_notebook_leads_somewhere_in_a_student_s_folder():
    """That has `notebooks` and `exercises`, and nothing else of the clone."""
    for file in (PROJECT / "notebooks").glob("*.ipynb"):
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", file.read_text(encoding="utf-8")):
            if not link.startswith("http"):
                target = (file.parent / link).resolve()
                assert target.exists(), f"{file.name} links to {link}"
                assert target.relative_to(PROJECT).parts[0] in PARTS, f"{file.name} links to {link}"


def test_a_notebook_is_valid_names_its_kernel_and_has_no_outputs(root):
    made = nbformat.read(root / "notebooks" / "00_first.ipynb", as_version=nbformat.NO_CONVERT)
    nbformat.validate(made)
    assert (made.nbformat, made.nbformat_minor) == (4, 5)
    assert made.metadata.kernelspec.name == "python3"
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    assert [cell.source for cell in code] == ["1 / 0", "1 / 0"]
    assert code[0].metadata.tags == ["raises-exception"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


def test_cells_keep_their_names_when_others_change():
    before, after = (json.loads(notebook(text, "x"))["cells"] for text in (LESSON, LESSON.replace("See", "Look at")))
    names = [[cell["id"] for cell in made] for made in (before, after)]
    assert len(set(names[0])) == len(names[0])
    assert [a == b for a, b in zip(*names, strict=True)] == [True, True, False, True]


def test_links_to_lessons_lead_to_their_notebooks(root):
    text = "".join(cells(root)[2]["source"])
    assert "[the second](01_second.ipynb#there), [not a lesson](README.md), a study (`docs/study.md` in" in text


def test_the_index_lists_the_lessons_that_exist(root):
    text = "".join(cells(root, "index")[0]["source"])
    assert "| 00 | [First things](00_first.ipynb) | What is first? |" in text
    assert "README" not in text
    assert shown(root / "notebooks") == written(root / "course") == [lesson("00_first", LESSON)]


def test_building_twice_writes_nothing(root):
    assert build.build(root) == build.cut(root) == build.problems(root) == []


def test_line_ends_that_git_changed_do_not_count(root):
    for file in [*(root / "notebooks").iterdir(), *(root / "exercises").iterdir()]:
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert build.problems(root) == []


def opened(root):
    """What JupyterLab does to a notebook that was only looked at."""
    file = root / "notebooks" / "00_first.ipynb"
    made = json.loads(file.read_text(encoding="utf-8"))
    made["metadata"]["language_info"]["version"] = "3.14.0"
    file.write_text(json.dumps(made))


def outputs(root):
    file = root / "notebooks" / "00_first.ipynb"
    made = json.loads(file.read_text(encoding="utf-8"))
    made["cells"][1]["execution_count"] = 1
    file.write_text(json.dumps(made))


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda root: (root / "notebooks" / "00_first.ipynb").unlink(), "is missing"),
        (outputs, "saved with its outputs"),
        (opened, "says the same"),
        (
            lambda root: (root / "course" / "00_first.md").write_text(LESSON + "\nMore.\n"),
            "differs from course/00_first.md",
        ),
        (lambda root: (root / "notebooks" / "07_old.ipynb").write_text("{}"), "07_old.ipynb has no source in course/"),
        (lambda root: (root / "exercises" / "00_first.py").write_text(SOLUTION), "differs from its solution"),
        (lambda root: (root / "exercises" / "07_old.py").write_text(""), "07_old.py has no source in solutions/"),
    ],
)
def test_whatever_differs_is_said(root, harm, sentence):
    harm(root)
    (said,) = build.problems(root)
    assert sentence in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# 00 · First\n\nWhy?\n\n```{note}\nx\n```\n", "line 5: JupyterLab would show {note}"),
        ("# 00 · First\n\nWhy?\n\n:::{tip}\nx\n:::\n", "line 5: JupyterLab would show {tip}"),
        ("Why?\n", "must begin with a heading"),
        ("# 00 · First\n\n## Second\n", "must begin with a heading"),
    ],
)
def test_lessons_that_readers_would_not_see_as_meant_are_refused(root, text, words):
    (root / "course" / "00_first.md").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(words)):
        build.notebooks(root)


def test_a_solution_without_markers_is_not_handed_out(root):
    (root / "solutions" / "00_first.py").write_text("def f(x):\n    return 42\n")
    with pytest.raises(ValueError, match="no marked region"):
        build.cut(root)


def test_work_is_not_overwritten_unless_forced(root):
    (root / "exercises" / "00_first.py").write_text("def f(x):\n    return 41\n")
    with pytest.raises(ValueError, match=r"has work in it \(f\)"):
        build.cut(root)
    assert [file.name for file in build.cut(root, force=True)] == ["00_first.py"]
    assert build.problems(root) == []


def test_an_index_without_its_table_is_refused(root):
    shutil.copy(root / "course" / "README.md", root / "course" / "index.md")
    with pytest.raises(ValueError, match="<!-- lessons -->"):
        build.notebooks(root)
