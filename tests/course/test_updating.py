"""A student's folder is brought up to date, and no line of theirs is lost, whatever both sides did."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlmini.course.merging import cells, merged, merged_notebook, merged_text
from dlmini.course.updating import Update, changes, update

FILE = Path("exercises/04_a.py")
NOTE = Path("notebooks/04_a.ipynb")
BESIDE = {FILE: Path("exercises/04_a.new.py")}
items = st.lists(st.sampled_from("abcde"), max_size=8)


def notebook(*sources, run=False) -> str:
    done = {"outputs": [{"name": "stdout", "text": "7"}], "execution_count": 3} if run else {"outputs": []}
    made = [{"cell_type": "code", "id": f"c{i}", "source": s, **done} for i, s in enumerate(sources)]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def handed(tmp_path):
    """(the course, the student's folder): after the first copy."""
    course, mine = tmp_path / "course", tmp_path / "mine"
    for name in (FILE, NOTE):
        (course / name).parent.mkdir(parents=True)
    (course / FILE).write_text("a\nb\nc\nd\n")
    (course / NOTE).write_text(notebook("x = 1", "y = 2", "z = 3"))
    assert update(course, mine) == Update(new=[NOTE, FILE])
    assert update(course, mine) == Update()
    return course, mine


@given(items, items)
def test_who_changed_something_alone_is_right(base, other):
    assert merged(base, other, base) == (other, False)
    assert merged(base, base, other) == (other, False)
    assert merged(base, other, other) == (other, False)


@given(items, items, items)
def test_no_item_of_mine_is_lost_that_the_other_did_not_take_out(base, mine, theirs):
    found, clash = merged(base, mine, theirs)
    for item in set(mine):
        assert found.count(item) >= mine.count(item) - base.count(item)
    if clash:
        assert merged(base, mine, theirs)[0] is not None
        assert mine != base
        assert theirs != base


def test_changes_in_different_places_come_together():
    assert merged_text("a\nb\nc\n", "a!\nb\nc\n", "a\nb\nc!\nd\n") == ("a!\nb\nc!\nd\n", False)
    assert merged_text("a\nb\n", "a\r\nmine\r\nb\r\n", "new\na\nb\n") == ("new\r\na\r\nmine\r\nb\r\n", False)


def test_changes_in_one_place_clash_and_mine_stays():
    assert merged_text("a\nb\nc\n", "a\nB\nc\n", "a\nbb\nc\n") == ("a\nB\nc\n", True)


def test_cells_side_by_side_do_not_clash_and_outputs_stay():
    text, clash = merged_notebook(
        notebook("x", "y"), notebook("mine", "y", "my own", run=True), notebook("x", "new y", "more")
    )
    assert clash
    text, clash = merged_notebook(notebook("x", "y"), notebook("mine", "y", run=True), notebook("x", "new y"))
    assert not clash
    assert [cell.source for cell in cells(text)] == ["mine", "new y"]
    assert [bool(cell.whole["outputs"]) for cell in cells(text)] == [True, False]


def test_ids_of_cells_stay_different():
    text, _ = merged_notebook(notebook("x", "y"), notebook("x", "own", "y"), notebook("w", "x", "y"))
    ids = [cell.whole["id"] for cell in cells(text) if "id" in cell.whole]
    assert [cell.source for cell in cells(text)] == ["w", "x", "own", "y"]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("spoilt", [None, "same", ["a list"], "", "two words"])
def test_a_notebook_of_another_editor_is_merged_into_one_that_is_valid(handed, spoilt):
    """Formats before 4.5 know no ids, Colab writes none, and copied cells may share one."""
    course, mine = handed
    whole = json.loads(notebook("x = 1", "my answer", "z = 3", "more"))
    for cell in whole["cells"]:
        cell |= {"metadata": {}, "execution_count": None} | ({} if spoilt is None else {"id": spoilt})
        if spoilt is None:
            del cell["id"]
    (mine / NOTE).write_text(json.dumps(whole | {"nbformat_minor": 4}))
    (course / NOTE).write_text(notebook("x = 10", "y = 2", "z = 3").replace('"outputs"', '"metadata": {}, "outputs"'))
    assert update(course, mine) == Update(merged=[NOTE])
    found = json.loads((mine / NOTE).read_text())
    assert [cell["source"] for cell in found["cells"]] == ["x = 10", "my answer", "z = 3", "more"]
    assert len({cell["id"] for cell in found["cells"]}) == 4
    found["cells"][0]["execution_count"] = None
    nbformat.validate(found)


def test_lines_are_those_of_an_editor_and_strings_stay_as_they_are(handed):
    """Form feeds and separators of lines and records stand inside of lines."""
    course, mine = handed
    (mine / FILE).write_bytes("a\nb = '\x0c \x1e \x85 \u2028 x'\nc\nd\n".encode())
    (course / FILE).write_text("a\nb\nc\nD\n")
    assert update(course, mine) == Update(merged=[FILE])
    assert (mine / FILE).read_bytes().decode() == "a\nb = '\x0c \x1e \x85 \u2028 x'\nc\nD\n"


def test_a_mark_before_a_text_and_other_line_ends_are_no_change(handed):
    course, mine = handed
    for name in (FILE, NOTE):
        (mine / name).write_bytes(b"\xef\xbb\xbf" + (mine / name).read_bytes().replace(b"\n", b"\r\n"))
    assert changes(mine) == {}
    (mine / NOTE).write_bytes(b"\xef\xbb\xbf" + notebook("x = 1", "y = 2\r\nown = 3\r\n", "z = 3").encode())
    assert changes(mine) == {NOTE: ["@@ -2,2 +2,3 @@", " y = 2", "+own = 3", " z = 3"]}
    (mine / FILE).write_bytes(b"\xef\xbb\xbfa\r\nmy answer\r\nc\r\nd\r\n")
    (course / FILE).write_text("A\nb\nc\nD\n")
    (course / NOTE).write_text(notebook("x = 10", "y = 2", "z = 3"))
    assert update(course, mine) == Update(merged=[NOTE], beside=BESIDE)
    (course / FILE).write_text("A\nb\nc\nD\ne\n")
    (mine / FILE).write_bytes(b"\xef\xbb\xbfa\r\nb\r\nc\r\nmine\r\nD\r\n")
    assert update(course, mine) == Update(merged=[FILE])
    assert (mine / FILE).read_bytes() == b"\xef\xbb\xbfa\r\nb\r\nc\r\nmine\r\nD\r\ne\r\n"


def test_output_that_was_cut_inside_a_letter_stops_no_update(handed):
    course, mine = handed
    (mine / NOTE).write_text(notebook("my answer", "y = 2", "z = 3", run=True).replace('"7"', r'"\ud83d"'))
    (course / NOTE).write_text(notebook("x = 1", "y = 2", "z = 30"))
    assert update(course, mine) == Update(merged=[NOTE])
    assert json.loads((mine / NOTE).read_bytes())["cells"][0]["outputs"][0]["text"] == "\ud83d"


def test_what_was_not_touched_is_replaced_even_if_it_was_run(handed):
    course, mine = handed
    (mine / NOTE).write_text(notebook("x = 1", "y = 2", "z = 3", run=True))
    (course / NOTE).write_text(notebook("x = 1", "y = 20", "z = 3"))
    (course / FILE).write_text("a\nb\nc\nd\ne\n")
    assert update(course, mine) == Update(updated=[NOTE, FILE])
    assert [cell.source for cell in cells((mine / NOTE).read_text())] == ["x = 1", "y = 20", "z = 3"]
    assert (mine / FILE).read_text() == "a\nb\nc\nd\ne\n"


def test_what_both_changed_is_merged_and_the_old_one_kept(handed):
    course, mine = handed
    (mine / FILE).write_text("a\nmy answer\nc\nd\n")
    (course / FILE).write_text("a\nb\nc\nD\n")
    assert update(course, mine) == Update(merged=[FILE])
    assert (mine / FILE).read_text() == "a\nmy answer\nc\nD\n"
    assert (mine / ".dlmini" / "before_update" / FILE).read_text() == "a\nmy answer\nc\nd\n"
    assert update(course, mine) == Update()


@pytest.mark.parametrize("spoilt", [b"a\nmy answer\nc\nd\n", b"\xff\xfe\x00", b"", b"a\nmine"])
def test_where_both_changed_one_place_the_new_one_is_put_beside(handed, spoilt):
    course, mine = handed
    (mine / FILE).write_bytes(spoilt)
    (course / FILE).write_text("A\nB\nC\nD\n")
    assert update(course, mine) == Update(beside=BESIDE)
    assert (mine / FILE).read_bytes() == spoilt
    assert (mine / "exercises" / "04_a.new.py").read_text() == "A\nB\nC\nD\n"


def test_a_new_one_beside_never_takes_the_place_of_one_that_the_student_has_gone_on_in(handed):
    course, mine = handed
    (mine / FILE).write_text("a\nmy answer\nc\nd\n")
    for said in ("B", "BB"):  # nobody has touched the first: it is replaced
        (course / FILE).write_text(f"a\n{said}\nc\nd\n")
        assert update(course, mine) == Update(beside=BESIDE)
    (mine / BESIDE[FILE]).write_text("a\nmy answer in the new one\nc\nd\n")
    (course / FILE).write_text("a\nBBB\nc\nd\n")
    assert update(course, mine) == Update(beside={FILE: Path("exercises/04_a.new2.py")})
    assert (mine / BESIDE[FILE]).read_text() == "a\nmy answer in the new one\nc\nd\n"
    assert (mine / "exercises" / "04_a.new2.py").read_text() == "a\nBBB\nc\nd\n"


def test_every_file_as_it_was_before_a_merge_is_kept(handed):
    course, mine = handed
    for said in ("first", "second"):
        (mine / FILE).write_text(f"a\n{said} answer\nc\n" + (course / FILE).read_text().split("c\n")[1])
        (course / FILE).write_text(f"a\nb\nc\n{said}\n")
        assert update(course, mine) == Update(merged=[FILE])
    kept = (mine / ".dlmini" / "before_update" / "exercises").iterdir()
    assert sorted(file.read_text() for file in kept) == ["a\nfirst answer\nc\nd\n", "a\nsecond answer\nc\nfirst\n"]


def test_who_has_what_is_new_already_is_left_alone(handed):
    """By hand, or because two updates ran at once: the other has just put it there."""
    course, mine = handed
    for place in (course, mine):
        (place / FILE).write_text("a\nb\nc\nD\n")
    assert update(course, mine) == Update()
    assert not (mine / ".dlmini" / "before_update").exists()


@pytest.mark.parametrize("spoilt", [b"", b"{}", b"[1]", b'{"cells": 3}', b"[" * 20000, b"\xff"])
def test_a_notebook_that_is_none_stays_as_it_is(handed, spoilt):
    course, mine = handed
    (mine / NOTE).write_bytes(spoilt)
    (course / NOTE).write_text(notebook("new"))
    assert update(course, mine) == Update(beside={NOTE: Path("notebooks/04_a.new.ipynb")})
    assert (mine / NOTE).read_bytes() == spoilt
    assert (mine / "notebooks" / "04_a.new.ipynb").is_file()
    assert list(changes(mine)) == [NOTE]


def test_files_that_were_there_before_the_course_are_left_alone(handed, tmp_path):
    course, _ = handed
    old = tmp_path / "old"
    (old / FILE).parent.mkdir(parents=True)
    (old / FILE).write_text("from an older copy\n")
    assert update(course, old) == Update(new=[NOTE], kept=[FILE])
    assert (old / FILE).read_text() == "from an older copy\n"


def test_a_deleted_file_comes_back(handed):
    course, mine = handed
    (mine / FILE).unlink()
    assert changes(mine)[FILE] == ["(it was deleted; the next update brings it back)"]
    assert update(course, mine) == Update(new=[FILE])


def test_changes_are_shown_and_running_is_none(handed):
    _, mine = handed
    (mine / NOTE).write_text(notebook("x = 1", "y = 2", "z = 3", run=True))
    assert changes(mine) == {}
    (mine / FILE).write_text("a\nmy answer\nc\nd\n")
    assert changes(mine) == {FILE: ["@@ -1,3 +1,3 @@", " a", "-b", "+my answer", " c"]}


def test_changes_are_shown_also_where_one_file_cannot_be_read(handed, monkeypatch):
    _, mine = handed
    (mine / NOTE).write_text(notebook("x = 1"))
    whole = Path.read_bytes

    def locked(file):
        if file == mine / FILE:
            raise PermissionError(13, "Permission denied", str(file))
        return whole(file)

    monkeypatch.setattr(Path, "read_bytes", locked)
    assert list(changes(mine)) == [NOTE, FILE]
    assert changes(mine)[FILE] == [f"(it cannot be read: Permission denied: '{mine / FILE}')"]


def test_an_update_that_is_interrupted_is_done_the_next_time(handed, monkeypatch):
    course, mine = handed
    (course / FILE).write_text("a\nb\nc\nD\n")
    from dlmini.course import updating

    def full(file, data):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(updating, "write_bytes", full)
        assert update(course, mine) == Update(refused={FILE: "no space left"})
    assert (mine / FILE).read_text() == "a\nb\nc\nd\n"
    assert update(course, mine) == Update(updated=[FILE])


def folder_in_its_place(place):
    place.unlink()
    place.mkdir()


def link_to_nowhere(place):
    place.unlink()
    place.symlink_to("/disk/that/is/not/there/04_a.py")


def linked_folder_is_gone(place):
    shutil.rmtree(place.parent)
    place.parent.symlink_to("/disk/that/is/not/there")


def file_for_a_folder(place):
    shutil.rmtree(place.parent)
    place.parent.write_text("mine")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (folder_in_its_place, "it is a folder"),
        (link_to_nowhere, "is a link to /disk/that/is/not/there/04_a.py, which is not there; bring it back"),
        (linked_folder_is_gone, "is a link to /disk/that/is/not/there, which is not there; bring it back"),
        (file_for_a_folder, "is there, and is no folder; move it away"),
    ],
)
def test_a_file_that_cannot_be_written_stops_no_other(handed, spoil, why):
    course, mine = handed
    spoil(mine / FILE)
    (course / FILE).write_text("a\nb\nc\nD\n")
    (course / NOTE).write_text(notebook("new"))
    (course / "exercises" / "z.py").write_text("new")
    done = update(course, mine)
    assert done.updated == [NOTE]
    assert why in done.refused[FILE]
    assert "Errno" not in done.refused[FILE]


def test_what_is_a_file_where_the_course_keeps_its_own_is_named(handed):
    course, mine = handed
    shutil.rmtree(mine / ".dlmini")
    (mine / ".dlmini").write_text("mine")
    assert update(course, mine).refused[FILE] == f"{mine / '.dlmini'} is there, and is no folder; move it away"
