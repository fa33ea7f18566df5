"""Folders and archives: found whoever packed them, read without ever writing, refused where they are traps."""

import io
import json
import os
import stat
import zipfile

import pytest

from dlmini.grade.reading.archive import members, safe
from dlmini.grade.reading.budget import Budget, Unsafe
from dlmini.grade.reading.source_text import Unreadable, text_of
from dlmini.grade.reading.zips import name_of
from dlmini.grade.submissions.collect import collect

STEM, FILE = "04_allreduce", "04_allreduce.py"


def zipped(members, **options):
    """A zip in memory; members: name -> text, or (ZipInfo, text) pairs."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, **options) as opened:
        for name, text in members.items() if isinstance(members, dict) else members:
            opened.writestr(name, text)
    return out.getvalue()


def by_name(root):
    return {s.name: s for s in collect(root, STEM)}


def test_folders_zips_and_single_files_are_submissions(tmp_path):
    (tmp_path / "Иванов Пётр").mkdir()
    (tmp_path / "Иванов Пётр" / FILE).write_text("a = 1", encoding="utf-8")
    (tmp_path / "smith.zip").write_bytes(zipped({f"deep/inside/{FILE}": "a = 2", "notes.txt": "hello"}))
    (tmp_path / "jones.py").write_text("a = 3")
    (tmp_path / "readme.txt").write_text("not a submission")
    found = by_name(tmp_path)
    assert {name: s.source for name, s in found.items()} == {"Иванов Пётр": "a = 1", "smith": "a = 2", "jones": "a = 3"}


def test_a_moodle_export_is_one_zip_of_folders_and_zips(tmp_path):
    inner = zipped({FILE: "a = 2"})
    members = {f"Анна Ли_17_assignsubmission_file_/{FILE}": "a = 1", "Bo_18_assignsubmission_file_/work.zip": inner}
    (tmp_path / "export.zip").write_bytes(zipped(members))
    assert {n: s.source for n, s in by_name(tmp_path / "export.zip").items()} == {
        "Анна Ли_17": "a = 1",
        "Bo_18": "a = 2",
    }


def test_a_gradescope_export_names_students_in_its_metadata(tmp_path):
    lines = [
        "submission_11:",
        "  :submitters:",
        "  - :name: Ada L",
        "    :sid: 's-1'",
        "submission_12:",
        "  :submitters:",
    ]
    (tmp_path / "submission_metadata.yml").write_text("\n".join([*lines, "  - :name: Bo M", ""]))
    for number in (11, 12):
        (tmp_path / f"submission_{number}").mkdir()
        (tmp_path / f"submission_{number}" / FILE).write_text(f"a = {number}")
    assert {n: s.source for n, s in by_name(tmp_path).items()} == {"Ada L": "a = 11", "Bo M": "a = 12"}


def test_a_folder_with_the_file_itself_is_one_submission(tmp_path):
    (tmp_path / FILE).write_text("a = 1")
    (tmp_path / "conftest.py").write_text("raise SystemExit")
    (found,) = collect(tmp_path, STEM)
    assert (found.name, found.source) == (tmp_path.name, "a = 1")


def test_planted_files_beside_the_exercise_do_not_count(tmp_path):
    (tmp_path / "eve").mkdir()
    for name in ("conftest.py", "numpy.py", "sitecustomize.py", "pytest.ini", "results.json"):
        (tmp_path / "eve" / name).write_text("raise SystemExit(0)")
    (tmp_path / "eve" / FILE).write_text("a = 1")
    assert by_name(tmp_path)["eve"].source == "a = 1"


def test_a_missing_file_is_a_sentence_not_an_error(tmp_path):
    (tmp_path / "bo").mkdir()
    (tmp_path / "bo" / "essay.txt").write_text("sorry")
    found = by_name(tmp_path)["bo"]
    assert found.source is None
    assert "was not found; the submission holds essay.txt" in found.problem


@pytest.mark.skipif(os.name != "posix", reason="links need rights on Windows")
def test_links_are_neither_followed_nor_read(tmp_path):
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / FILE).write_text("a = 'the solution'")
    root = tmp_path / "submissions"
    for name in ("eve", "mallory"):
        (root / name).mkdir(parents=True)
    (root / "eve" / FILE).symlink_to(tmp_path / "secret" / FILE)
    (root / "mallory" / "folder").symlink_to(tmp_path / "secret")
    (root / "mallory" / "x.txt").write_text("x")
    assert all(s.source is None for s in collect(root, STEM))


@pytest.mark.parametrize("name", [f"../{FILE}", f"/etc/{FILE}", f"a/../../{FILE}", f"..\\{FILE}", f"C:\\{FILE}"])
def test_a_path_that_leaves_the_archive_is_refused(tmp_path, name):
    (tmp_path / "eve.zip").write_bytes(zipped([(name, "a = 1"), (FILE, "a = 2")]))
    (tmp_path / "bo.py").write_text("a = 3")
    found = by_name(tmp_path)
    assert found["eve"].source is None
    assert "outside it" in found["eve"].problem
    assert found["bo"].source == "a = 3"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bo.py", "eve.zip"]


def test_what_is_no_file_in_an_archive_is_listed_and_not_read(tmp_path):
    link, pipe, locked = zipfile.ZipInfo(FILE), zipfile.ZipInfo(FILE), zipfile.ZipInfo(FILE)
    link.external_attr, pipe.external_attr = (stat.S_IFLNK | 0o777) << 16, stat.S_IFIFO << 16
    (tmp_path / "link.zip").write_bytes(zipped([(link, "/etc/passwd")]))
    (tmp_path / "pipe.zip").write_bytes(zipped([(pipe, "")]))
    data = bytearray(zipped([(locked, "a = 1")]))
    data[6] |= 1
    data[data.rfind(b"PK\1\2") + 8] |= 1
    (tmp_path / "locked.zip").write_bytes(data)
    said = {name: s.problem for name, s in by_name(tmp_path).items()}
    assert "is a link, and is not read" in said["link"]
    assert "is a device, and is not read" in said["pipe"]
    assert "is encrypted, and is not read" in said["locked"]


def test_one_budget_counts_what_comes_out_of_all_archives_of_a_hand_in():
    inner = zipped({f"{i}.txt": b"\0" * (1 << 19) for i in range(4)})
    outer = zipped({"a.zip": inner, "b.zip": inner})
    budget = Budget(bytes=3 << 20, files=100)
    files = [e for box in members(io.BytesIO(outer), budget) for e in members(io.BytesIO(box.read(1 << 20)), budget)]
    with pytest.raises(Unsafe, match="grows to more than"):
        [e.read(1 << 20) for e in files]
    with pytest.raises(Unsafe, match="more than"):
        members(io.BytesIO(inner), Budget(files=3))
    with pytest.raises(Unsafe, match="deep"):
        members(io.BytesIO(zipped({"/".join("abcd"): ""})), Budget(depth=3))


def test_what_nobody_asks_for_costs_nothing(tmp_path):
    """A data set beside the program is not unpacked to find the program."""
    with zipfile.ZipFile(tmp_path / "bo.zip", "w", zipfile.ZIP_DEFLATED) as opened:
        for i in range(4):
            opened.writestr(f"data/{i}.npy", b"\0" * (40 << 20))
        opened.writestr(FILE, "a = 1")
    (tmp_path / "ann.py").write_text("a = 3")
    assert by_name(tmp_path)["bo"].source == "a = 1"


def test_archives_in_archives_end_somewhere(tmp_path):
    data = zipped({FILE: "a = 1"})
    for _ in range(5):
        data = zipped({"more.zip": data})
    (tmp_path / "eve.zip").write_bytes(data)
    (tmp_path / "bo.py").write_text("a = 3")
    assert by_name(tmp_path)["eve"].source is None


def test_a_broken_archive_costs_only_its_own_submission(tmp_path):
    (tmp_path / "eve.zip").write_bytes(zipped({FILE: "a = 1"})[:40])
    (tmp_path / "bo.py").write_text("a = 3")
    assert by_name(tmp_path)["eve"].source is None
    assert by_name(tmp_path)["bo"].source == "a = 3"


def test_names_of_old_russian_archives_are_read():
    info = zipfile.ZipInfo("x")
    info.orig_filename, info.flag_bits = "Пётр".encode("cp866").decode("cp437"), 0
    assert name_of(info) == "Пётр"
    info.orig_filename = "Пётр".encode().decode("cp437")
    assert name_of(info) == "Пётр"


def test_safe_keeps_honest_paths():
    assert safe("работа/04_allreduce.py") == ("работа", "04_allreduce.py")


@pytest.mark.parametrize(
    "data",
    [
        "x = 'ё'\n".encode(),
        b"\xef\xbb\xbf" + "x = 'ё'\n".encode(),
        "x = 'ё'\r\n".encode(),
        "x = 'ё'\r\n".encode("utf-16"),
        "# coding: cp1251\nx = 'ё'\n".encode("cp1251"),
    ],
    ids=["utf-8", "byte-order mark", "CRLF", "utf-16", "declared cp1251"],
)
def test_text_is_read_whatever_the_editor_did(data):
    assert text_of(data, FILE).endswith("x = 'ё'\n")


@pytest.mark.parametrize("data", [b"\xff\xfe\xfd", b"x = 1\0", b"x" * (2 << 20), "x = 'ё'".encode("cp1251")])
def test_what_is_no_text_is_refused_in_a_sentence(data):
    with pytest.raises(Unreadable, match=FILE):
        text_of(data, FILE)


def test_of_a_notebook_definitions_count_and_what_is_only_run_does_not():
    cells = [
        {"cell_type": "markdown", "source": ["def not_code(): pass"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import numpy as np\n", "check('04.x')\n"]},
        {"cell_type": "code", "source": "@decorated\ndef f(x):\n    !ls\n    return np.abs(x) + N\n\nf(1 / 0)\nN = 3"},
    ]
    text = text_of(json.dumps({"cells": cells}).encode(), "04_allreduce.ipynb")
    assert "import numpy as np" in text
    assert "@decorated\ndef f(x):" in text
    assert "N = 3" in text
    assert not any(word in text for word in ("check", "not_code", "1 / 0", "matplotlib"))
    compile(text, "x", "exec")
