"""A student's own folder: opened, an exercise written in the browser, checked, seen in the index, and then updated."""

import shutil

import pytest
from conftest import PROJECT
from lab import missing, page, run_all, server, show_cell
from visitor import PATIENCE, Visitor

from dlmini.course import folder
from dlmini.course.updating import PARTS, Update, update

pytestmark = [pytest.mark.browser, pytest.mark.skipif(bool(missing()), reason=f"browser tests: {missing()}")]
NAME, CELL = "00_meet_the_lab", 'check("00.shard")'


@pytest.fixture
def course(tmp_path, monkeypatch):
    """(what is handed out, the student's folder)."""
    for name in PARTS:
        shutil.copytree(PROJECT / name, tmp_path / "handed_out" / name)
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path / "mine"))
    monkeypatch.setenv("DLMINI_PROFILE", "fast")
    return tmp_path / "handed_out", folder.opened(tmp_path, tmp_path / "handed_out").root


def test_a_student_works_in_a_folder_of_their_own(course, shots):
    source, mine = course
    solved = (PROJECT / "solutions" / f"{NAME}.py").read_text(encoding="utf-8")
    with server(mine) as (url, token), page(url, token, f"notebooks/{NAME}.ipynb") as view:
        visitor = Visitor(view)
        run_all(view)
        show_cell(view, f"exercises/{NAME}.py")
        view.locator("a", has_text=f"exercises/{NAME}.py").first.click()
        editor = view.locator(".jp-FileEditor .cm-content")
        visitor.expect(editor).to_contain_text("def shard", timeout=PATIENCE)
        editor.click()
        view.keyboard.press("Control+A")
        view.keyboard.insert_text(solved)
        view.keyboard.press("Control+S")
        view.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty", timeout=PATIENCE)
        view.screenshot(path=shots / "exercise_in_the_editor.png")
        view.goto(f"{url}lab/tree/notebooks/{NAME}.ipynb?token={token}&reset")
        run_all(view)
        show_cell(view, CELL)
        visitor.expect(visitor.output(CELL)).to_contain_text("passed", timeout=PATIENCE)
        view.goto(f"{url}lab/tree/notebooks/index.ipynb?token={token}&reset")
        run_all(view)
        show_cell(view, "progress()")
        visitor.expect(visitor.output("progress()")).to_contain_text("✔ shard", timeout=PATIENCE)
        view.screenshot(path=shots / "index_of_a_student.png")
    assert (PROJECT / "exercises" / f"{NAME}.py").read_text(encoding="utf-8") != solved
    new = source / "exercises" / f"{NAME}.py"
    new.write_text("# a line that is new\n" + new.read_text(encoding="utf-8"), encoding="utf-8")
    assert new.relative_to(source) in update(source, mine).merged
    kept = (mine / "exercises" / f"{NAME}.py").read_text(encoding="utf-8")
    assert kept == "# a line that is new\n" + solved
    assert update(source, mine) == Update()
