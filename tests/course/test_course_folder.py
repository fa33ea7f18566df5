"""Students' files are never overwritten, their progress is kept, and lessons know how large to be."""

import os
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dlmini import check, profile
from dlmini.cli import app
from dlmini.commands.workspace import told
from dlmini.course import folder, progress
from dlmini.course.check_record import read, record, said
from dlmini.course.lessons import Lesson
from dlmini.course.updating import Update
from dlmini.course.work import current, work_folder

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def carried(tmp_path, monkeypatch):
    """What a wheel carries: two notebooks and an exercise."""
    monkeypatch.delenv("DLMINI_WORK", raising=False)
    source = tmp_path / "wheel"
    for name in ("notebooks/index.ipynb", "notebooks/00_a.ipynb", "exercises/00_a.py"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(f"new {name}")
    (source / "exercises" / "__pycache__").mkdir()
    (source / "exercises" / "__pycache__" / "00_a.pyc").write_text("")
    return source


def test_the_course_is_copied_and_then_left_alone(carried, tmp_path):
    course = folder.opened(tmp_path, carried)
    assert course.root == tmp_path / "dlmini-course"
    assert [path.as_posix() for path in course.update.new] == [
        "notebooks/00_a.ipynb",
        "notebooks/index.ipynb",
        "exercises/00_a.py",
    ]
    (course.root / "exercises" / "00_a.py").write_text("mine")
    (course.root / "notebooks" / "00_a.ipynb").unlink()
    again = folder.opened(tmp_path, carried)
    assert again.update == Update(new=[Path("notebooks/00_a.ipynb")])
    assert (course.root / "exercises" / "00_a.py").read_text() == "mine"


def test_a_lab_opens_also_where_something_could_not_be_updated_and_says_so(carried, tmp_path):
    course = folder.opened(tmp_path, carried)
    (course.root / "exercises" / "00_a.py").unlink()
    (course.root / "exercises" / "00_a.py").mkdir()
    (carried / "exercises" / "00_a.py").write_text("newer")
    again = folder.opened(tmp_path, carried)
    assert again.root == course.root
    (said,) = told(again)
    assert said.startswith("1 file could not be brought up to date, and yours stayed as they are: 00_a.py. ")


def test_where_no_course_can_be_put_it_says_why(carried, tmp_path):
    (tmp_path / "dlmini-course").write_text("mine")
    with pytest.raises(PermissionError, match="dlmini-course is there, and is no folder; move it away"):
        folder.opened(tmp_path, carried)


def test_inside_a_copy_no_second_one_is_made(carried, tmp_path):
    root = folder.opened(tmp_path, carried).root
    assert folder.opened(root, carried).root == root


@pytest.mark.parametrize("inside", ["notebooks", "exercises", "own/notes"])
def test_below_a_copy_no_second_one_is_made_and_checks_count_in_the_first(carried, tmp_path, inside, monkeypatch):
    root = folder.opened(tmp_path, carried).root
    here = root / inside
    here.mkdir(parents=True, exist_ok=True)
    assert folder.opened(here, carried) == (root, Update())
    (here / "dlmini-course" / "exercises").mkdir(parents=True)  # as earlier versions made one
    monkeypatch.chdir(here)
    assert work_folder() == root


def test_below_a_folder_that_only_looks_like_a_course_a_new_one_is_made(carried, tmp_path):
    (tmp_path / "notebooks" / "mine").mkdir(parents=True)
    (tmp_path / "notebooks" / "index.ipynb").write_text("mine")
    here = tmp_path / "notebooks" / "mine"
    assert folder.opened(here, carried).root == here / "dlmini-course"


def test_who_is_in_the_clones_notebooks_is_in_the_clone(monkeypatch):
    monkeypatch.delenv("DLMINI_WORK", raising=False)
    clone = folder.clone()
    assert folder.opened(clone / "notebooks") == (clone, Update())


@pytest.mark.skipif(os.name != "posix", reason="shells elsewhere do not say by which links one came")
def test_exercises_may_lie_on_another_disk_behind_a_link(carried, tmp_path, monkeypatch):
    root = folder.opened(tmp_path, carried).root
    (root / "exercises").rename(tmp_path / "disk")
    (root / "exercises").symlink_to(tmp_path / "disk")
    monkeypatch.chdir(root / "exercises")
    monkeypatch.setenv("PWD", str(root / "exercises"))
    assert work_folder() == root
    (carried / "exercises" / "00_a.py").write_text("newer")
    assert folder.opened(current(), carried) == (root, Update(updated=[Path("exercises/00_a.py")]))
    assert (tmp_path / "disk" / "00_a.py").read_text() == "newer\n"
    monkeypatch.setenv("PWD", "/")  # a shell that is somewhere else
    assert current() == Path.cwd()


def test_a_named_folder_is_meant_as_it_was_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for word, meant in (("term1", tmp_path / "term1"), ("~/term1", tmp_path / "home" / "term1"), ("", tmp_path)):
        monkeypatch.setenv("DLMINI_WORK", word)
        assert work_folder() == meant
        assert folder.chosen(tmp_path) == (meant if word else tmp_path / "dlmini-course")


def test_a_clone_is_copied_too_so_that_it_stays_clean(tmp_path, monkeypatch):
    monkeypatch.delenv("DLMINI_WORK", raising=False)
    course = folder.opened(tmp_path)
    assert course.root == tmp_path / "dlmini-course"
    assert Path("exercises/04_allreduce.py") in course.update.new


def test_a_folder_may_be_named(carried, tmp_path, monkeypatch):
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path / "elsewhere" / "mine"))
    assert folder.opened(tmp_path, carried).root == tmp_path / "elsewhere" / "mine"


def test_who_writes_lessons_works_in_the_clone(monkeypatch):
    monkeypatch.delenv("DLMINI_WORK", raising=False)
    assert folder.opened(folder.clone()) == (folder.clone(), Update())


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_clone_of_somebody_else_is_not_worked_in(carried):
    (carried / "notebooks").chmod(0o500)
    with pytest.raises(PermissionError, match="a folder of your own"):
        folder.opened(carried, carried)


def test_an_installation_without_notebooks_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"index\.ipynb is missing"):
        folder.opened(tmp_path, tmp_path)


def test_progress_is_kept_beside_the_exercises_and_out_of_git(tmp_path, monkeypatch):
    monkeypatch.delenv("DLMINI_WORK", raising=False)
    (tmp_path / "exercises").mkdir()
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    record("04.ring", "failed")
    record("04.ring", "passed")
    record("03.bsp_step", "not done yet")
    assert said(tmp_path) == {"04.ring": "passed", "03.bsp_step": "not done yet"}
    assert (tmp_path / ".dlmini" / ".gitignore").read_text() == "*\n"
    assert sorted(os.listdir(tmp_path / ".dlmini")) == [".gitignore", "checks"]


def test_progress_shows_each_lesson_with_its_own_checks():
    lessons = [Lesson("03_a", "03 · <A>", "?"), Lesson("04_b", "04 · B", "?")]
    shown = progress.Progress(lessons, {"04.tree": "failed", "04.ring": "passed"})
    assert repr(shown) == "03  <A>: no checks yet\n04  B: ✔ ring, ✘ tree"
    assert "<a href='03_a.ipynb'>&lt;A&gt;</a>" in shown._repr_html_()


def test_a_damaged_verdict_costs_itself_alone_and_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    (tmp_path / "notebooks").mkdir()
    for task in ("00.shard", "00.empty", "00.foreign", "00.folder"):
        record(task, "passed", tmp_path)
    checks = tmp_path / ".dlmini" / "checks"
    (checks / "00.empty").write_text("")
    (checks / "00.foreign").write_bytes(b"\xff")
    (checks / "00.folder").unlink()
    (checks / "00.folder").mkdir()
    (checks / "a note.txt").write_text("mine")
    assert said(tmp_path) == {"00.shard": "passed"}
    assert [file.name for file in read(tmp_path)[1]] == ["00.empty", "00.folder", "00.foreign"]
    below = repr(progress.progress())
    assert f'What {checks / "00.empty"} held of your checks cannot be read: run check("00.empty") again.' in below
    record("00.empty", "failed", tmp_path)
    assert said(tmp_path)["00.empty"] == "failed"
    with pytest.raises(ValueError, match="a check says one of"):
        record("00.shard", "perfect", tmp_path)
    with pytest.raises(ValueError, match=r"such as 04\.ring_allreduce"):
        record("../00.shard", "passed", tmp_path)


@pytest.mark.parametrize("spoilt", ["[", "", "[]", '{"00.a": {"b": 1}}', '{"00.a": 3}', "[" * 20000, "\0"])
def test_what_an_earlier_version_kept_is_read_and_if_damaged_named(tmp_path, monkeypatch, spoilt):
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    record("00.shard", "passed", tmp_path)
    old = tmp_path / ".dlmini" / "progress.json"
    old.write_text('{"00.shard": "failed", "01.a": "passed"}')
    assert read(tmp_path) == ({"00.shard": "passed", "01.a": "passed"}, [])
    old.write_text(spoilt)
    assert read(tmp_path) == ({"00.shard": "passed"}, [old])
    assert repr(progress.progress()) == f"What {old} held of your checks cannot be read: delete it."


def test_checks_of_several_programs_at_once_all_count(tmp_path):
    """Between reading and writing of one another has written: as two that write one file would find it."""
    one, other = "04.ring_allreduce", "05.fetch"
    record(one, "passed", tmp_path)
    before = {file: file.read_bytes() for file in (tmp_path / ".dlmini").rglob("*") if file.is_file()}
    record(other, "passed", tmp_path)
    for file, content in before.items():  # who read then writes now
        file.write_bytes(content)
    assert said(tmp_path) == {one: "passed", other: "passed"}


@pytest.mark.parametrize("spoilt", ["", '{"cells": [', "{}", '{"cells": [3]}', "[" * 20000])
def test_a_broken_notebook_of_a_student_does_not_cost_the_index(tmp_path, monkeypatch, spoilt):
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    (tmp_path / "notebooks").mkdir()
    shutil.copy(PROJECT / "notebooks" / "00_meet_the_lab.ipynb", tmp_path / "notebooks")
    (tmp_path / "notebooks" / "04_allreduce.ipynb").write_text(spoilt)
    (tmp_path / "notebooks" / "50_my_own.ipynb").write_text('{"cells": []}')
    first, second, third, note = repr(progress.progress()).splitlines()
    assert first.startswith("00  Meet the lab: ")
    assert (second[:2], third[:2]) == ("04", "50")
    assert note.startswith("04_allreduce.ipynb cannot be read as a notebook.")
    assert "brings a new one" in progress.progress()._repr_html_()


def test_a_check_that_could_not_be_kept_is_shown_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    (tmp_path / "exercises").mkdir()
    shutil.copy(PROJECT / "solutions" / "00_meet_the_lab.py", tmp_path / "exercises")
    (tmp_path / ".dlmini").write_text("a file where the course keeps its own")
    report = check("00.shard")
    why = "This does not count in the index, it could not be kept: "
    assert report
    assert repr(report).splitlines()[-1].startswith(f"{why}{tmp_path / '.dlmini'} is there, and is no folder")
    assert why in report._repr_html_()
    shown = CliRunner().invoke(app, ["check", "00.shard"])
    assert (shown.exit_code, why in shown.output) == (0, True)


def test_check_shows_a_card_and_keeps_it(tmp_path, monkeypatch):
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    (tmp_path / "exercises").mkdir()
    shutil.copy(PROJECT / "exercises" / "04_allreduce.py", tmp_path / "exercises")
    assert "not done yet" in repr(check("04.ring_allgather"))
    assert "no exercise of that name yet" in repr(check("99.nothing"))
    assert said(tmp_path) == {"04.ring_allgather": "not done yet"}
    with pytest.raises(ValueError, match=r"such as 04\.ring_allreduce, or a lesson alone"):
        check("ring")


def test_a_check_in_a_terminal_counts_as_one_in_a_notebook(tmp_path, monkeypatch):
    monkeypatch.setenv("DLMINI_WORK", str(tmp_path))
    (tmp_path / "exercises").mkdir()
    shutil.copy(PROJECT / "solutions" / "00_meet_the_lab.py", tmp_path / "exercises")
    assert CliRunner().invoke(app, ["check", "00.shard"]).exit_code == 0
    assert said(tmp_path) == {"00.shard": "passed"}


@pytest.mark.parametrize("named", [".", "exercises"])
def test_a_check_counts_also_if_the_course_folder_is_named(tmp_path, monkeypatch, named):
    monkeypatch.delenv("DLMINI_WORK", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exercises").mkdir()
    shutil.copy(PROJECT / "solutions" / "00_meet_the_lab.py", tmp_path / "exercises")
    assert check("00.shard", folder=named)
    assert said(tmp_path) == {"00.shard": "passed"}


def test_a_check_of_files_elsewhere_is_nobodys_progress(tmp_path, monkeypatch):
    monkeypatch.delenv("DLMINI_WORK", raising=False)
    monkeypatch.chdir(tmp_path)
    check("00.shard", folder=PROJECT)
    shutil.copy(PROJECT / "solutions" / "00_meet_the_lab.py", tmp_path)
    assert check("00.shard")
    assert os.listdir(tmp_path) == ["00_meet_the_lab.py"]


def test_the_profile_decides_how_large_a_lesson_is(monkeypatch):
    monkeypatch.delenv("DLMINI_PROFILE", raising=False)
    assert (profile.fast(), profile.pick(400, 20)) == (False, 400)
    monkeypatch.setenv("DLMINI_PROFILE", "fast")
    assert (profile.fast(), profile.pick(400, 20)) == (True, 20)
    monkeypatch.setenv("DLMINI_PROFILE", "faster")
    with pytest.raises(ValueError, match="use one of normal, fast"):
        profile.fast()
