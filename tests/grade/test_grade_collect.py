"""Collecting a class: whatever one hand-in is made of, it costs nobody else, and everybody is in the list."""

import io
import json
import os
import random
import zipfile
from datetime import UTC, datetime

import psutil
import pytest
from strange_hand_ins import FAMILIES, FILE, PLAIN, STEM, book, hand_in, renamed, zipped

from dlmini.grade.gradebook.people import people
from dlmini.grade.reading import reader
from dlmini.grade.reading.archive import entries
from dlmini.grade.reading.budget import Budget, Unsafe
from dlmini.grade.reading.names import shown, slug
from dlmini.grade.submissions.collect import collect, collect_class

LONG = os.environ.get("DLMINI_LONG") == "1"
TASKS = ["shard", "ping", "steps"]


def class_with(folder, families, seed):
    """A draw of each family between two honest hand-ins."""
    folder.mkdir()
    for name, data in (("ann", PLAIN.encode()), ("zoe", b"\xef\xbb\xbf" + PLAIN.encode())):
        (folder / name).mkdir()
        (folder / name / FILE).write_bytes(data)
    for number, family in enumerate(families):
        hand_in(family, folder, f"m{number:02}_{family.__name__}", random.Random(f"{seed} {family.__name__}"))
    return folder


def readers():
    """Those that this process has started and that are still there."""
    below = psutil.Process().children(recursive=True)
    return [p for p in below if p.status() != psutil.STATUS_ZOMBIE and "grade.reading.reader" in " ".join(p.cmdline())]


@pytest.mark.parametrize("seed", range(20) if LONG else range(2))
def test_nothing_that_is_handed_in_costs_anybody_else(tmp_path, seed):
    folder = class_with(tmp_path / "class", FAMILIES, seed)
    found = {s.name: s for s in collect(folder, STEM, TASKS, jobs=2)}
    assert found.pop("ann").source == PLAIN
    assert found.pop("zoe").source == PLAIN
    assert set(found) == {f"m{number:02}_{family.__name__}" for number, family in enumerate(FAMILIES)}
    for one in found.values():
        assert (one.source is None) == bool(one.problem), one
        assert (one.source or one.problem).encode()
        assert len(one.problem) <= 2000
        assert one.problem.isprintable()
        assert one.problem == "" or one.problem[-1] in ".)", one.problem
    assert not readers()


def test_a_class_comes_as_a_folder_a_zip_or_wrapped_and_stray_files_change_nothing(tmp_path):
    names = ["Анна", "bo", "cy"]
    plain = tmp_path / "plain"
    for name in names:
        (plain / name).mkdir(parents=True)
        (plain / name / FILE).write_text(PLAIN)
    members = [(f"{name}/{FILE}", PLAIN) for name in names]
    (tmp_path / "class.zip").write_bytes(zipped(members))
    (tmp_path / "wrapped.zip").write_bytes(zipped([(f"export/{n}", t) for n, t in members]))
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "export.zip").write_bytes(zipped(members))
    for root in ("plain", "class.zip", "wrapped.zip", "downloads"):
        assert [s.name for s in collect(tmp_path / root, STEM)] == ["bo", "cy", "Анна"], root
    stray = [".DS_Store", "__MACOSX/._bo", "grades.csv", "readme.txt", FILE]
    for name in stray:
        (plain / name).parent.mkdir(exist_ok=True)
        (plain / name).write_text("x = 'not handed in'")
    (tmp_path / "class.zip").write_bytes(zipped([*members, *((name, "x") for name in stray)]))
    (tmp_path / "wrapped.zip").write_bytes(
        zipped([*((f"e/{n}", t) for n, t in members), *((n, "x") for n in stray[:4])])
    )
    for root in ("plain", "class.zip", "wrapped.zip"):
        found, left = collect_class([tmp_path / root], STEM)
        assert [(s.name, s.source) for s in found] == [("bo", PLAIN), ("cy", PLAIN), ("Анна", PLAIN)], root
        assert root == "wrapped.zip" or left == sorted([".DS_Store", "__MACOSX", "grades.csv", "readme.txt", FILE])


def test_nobody_vanishes(tmp_path):
    """Not who handed in a picture, nothing, or an archive that nobody can open."""
    for name in ("ann", "bo"):
        (tmp_path / name).mkdir()
    (tmp_path / "bo" / FILE).write_text(PLAIN)
    for name in ("cy.pdf", "di.7z", "ed.docx", "flo.zip"):
        (tmp_path / name).write_bytes(b"%PDF-1.4")
    found = {s.name: s for s in collect(tmp_path, STEM)}
    assert set(found) == {"ann", "bo", "cy", "di", "ed", "flo"}
    assert found["ann"].problem == "Nothing was handed in: there is no file."
    assert "the submission holds cy.pdf" in found["cy"].problem
    assert found["bo"].source == PLAIN


def test_flat_exports_are_put_together_by_whose_they_are(tmp_path):
    (tmp_path / f"doejane_11_901_{FILE}").write_text(PLAIN)
    (tmp_path / "doejane_11_902_report.txt").write_text("about")
    (tmp_path / f"leeann_LATE_12_903_{STEM}-1.py").write_text(PLAIN)
    (tmp_path / f"Анна Ли_17_assignsubmission_file_{FILE}").write_text(PLAIN)
    (tmp_path / "Анна Ли_17_assignsubmission_file_plot.pdf").write_text("x")
    found = {s.name: (s.id, s.source) for s in collect(tmp_path, STEM)}
    assert found == {"doejane_11": ("11", PLAIN), "leeann_12": ("12", PLAIN), "Анна Ли_17": ("17", PLAIN)}


def test_what_was_typed_into_canvas_is_a_hand_in_without_a_program(tmp_path):
    """Its page is no stray file: else its student would vanish."""
    (tmp_path / f"doejane_11_901_{FILE}").write_text(PLAIN)
    (tmp_path / "leeann_12_text.html").write_text("<p>def shard</p>")
    (tmp_path / "coxbo_LATE_13_link.html").write_text("<a>")
    found = {s.name: s for s in collect(tmp_path, STEM)}
    assert set(found) == {"doejane_11", "leeann_12", "coxbo_13"}
    assert "text.html" in found["leeann_12"].problem
    assert [found[name].late for name in ("doejane_11", "leeann_12", "coxbo_13")] == [False, False, True]


def test_a_name_keeps_what_joins_its_letters_and_nothing_that_moves_a_cursor():
    for name in ("می‌خواهم", "क्‍ष", "👩‍🔬", "O'Neil, Zoë"):
        assert shown(name) == name
    assert shown("a\x1b[2J\u202eb\nc\u200b") == "a�[2J�b�c�"
    assert shown("a\xa0b\u3000c\u2028d\u2029e") == "a b c�d�e"


def test_namesakes_are_told_apart_and_get_pages_of_their_own(tmp_path):
    rows = [f"submission_{n}:\n  :submitters:\n  - :name: Иван Петров\n" for n in (1, 2)]
    (tmp_path / "submission_metadata.yml").write_text("".join(rows), encoding="utf-8")
    for n in (1, 2):
        (tmp_path / f"submission_{n}").mkdir()
        (tmp_path / f"submission_{n}" / FILE).write_text(f"a = {n}")
    for name in ("Ann", "ann", "ANN", "nul", "\u0438\u0306", "\u0439", "x y", "a:b", "a_b"):
        (tmp_path / name).mkdir()
    found = collect(tmp_path, STEM)
    assert [s.source for s in found if s.name.startswith("Иван Петров (submission_")] == ["a = 1", "a = 2"]
    assert len({s.name for s in found}) == 11
    assert len({slug(s.name).casefold() for s in found}) == 11
    assert all(len(slug(s.name).encode()) < 100 for s in found)
    assert len(people(found, None)) == 11


@pytest.mark.parametrize("flag", [True, False], ids=["claims to be UTF-8", "says nothing"])
def test_an_honest_archive_with_russian_names_of_dos_is_read(tmp_path, flag):
    data = zipped([("xxxxxx/" + FILE, PLAIN), ("xxxxxx/notes.txt", "x")])
    data = renamed(data, b"xxxxxx/", "Работа/".encode("cp866"), utf8=flag)
    (tmp_path / "bo.zip").write_bytes(data)
    (tmp_path / "class.zip").write_bytes(zipped([("bo.zip", data), (f"ann/{FILE}", PLAIN)]))
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "bo.zip").write_bytes(data)
    (tmp_path / "class" / "ann.py").write_text(PLAIN)
    for root in ("class", "class.zip"):
        found = {s.name: s for s in collect(tmp_path / root, STEM)}
        assert found["bo"].source == PLAIN, found["bo"].problem
        assert found["bo"].file == f"Работа/{FILE}" if root == "class" else f"bo/Работа/{FILE}"
    with zipfile.ZipFile(io.BytesIO(data.replace("Работа".encode("cp866"), b"Rabota"))) as opened:
        assert len(opened.namelist()) == 2


def test_of_two_programs_the_one_with_the_functions_counts_and_papers_do_not_matter(tmp_path):
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "plots.py").write_text("import numpy\n")
    (tmp_path / "mine.py").write_text(PLAIN)
    (found,) = collect(tmp_path, STEM, TASKS, one=True)
    assert (found.name, found.source, found.file) == (tmp_path.name, PLAIN, "mine.py")
    (tmp_path / "again.py").write_text(PLAIN)
    (found,) = collect(tmp_path, STEM, TASKS, one=True)
    assert found.source is None
    assert "again.py, mine.py, plots.py, report.pdf" in found.problem


def test_one_hand_in_of_papers_alone_is_a_hand_in(tmp_path):
    (tmp_path / "report.pdf").write_bytes(b"%PDF-1.4")
    (found,) = collect(tmp_path, STEM, TASKS, one=True)
    assert "the submission holds report.pdf" in found.problem
    (tmp_path / "report.pdf").unlink()
    (found,) = collect(tmp_path, STEM, TASKS, one=True)
    assert found.problem == "Nothing was handed in: there is no file."


def test_a_folder_that_may_not_be_opened_costs_nobody_else(tmp_path, monkeypatch):
    """As root opens every folder, the system's refusal is made up."""
    from dlmini.grade.reading.class_list import class_of
    from dlmini.grade.reading.pick import picked

    for name in ("ann", "bo", "cy/inner"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / FILE).write_text(PLAIN)
    (tmp_path / "cy" / FILE).write_text(PLAIN)
    scandir = os.scandir

    def refusing(place="."):
        if os.fspath(place).endswith(("bo", "inner")):
            raise PermissionError(13, "Permission denied", os.fspath(place))
        return scandir(place)

    monkeypatch.setattr(os, "scandir", refusing)
    assert [m.name for m in class_of(tmp_path, STEM).members] == ["ann", "bo", "cy"]
    assert picked(tmp_path, [("ann",)], STEM).source == PLAIN
    assert picked(tmp_path, [("cy",)], STEM).source == PLAIN
    assert picked(tmp_path, [("bo",)], STEM).problem == (
        f"{STEM}.py was not found; the submission holds bo (a folder that cannot be opened)."
    )


def test_an_error_of_the_system_does_not_name_the_graders_folders(tmp_path):
    from dlmini.grade.reading.pick import picked

    found = picked(tmp_path, [("nowhere",)], STEM)
    assert found.problem == "It is not read: No such file or directory."


def test_the_name_of_a_students_file_does_not_make_it_somebody_elses(tmp_path):
    """Who calls a file as an export of another student would be called hands it in as one's own."""
    for name in (
        f"Ann_17_assignsubmission_file_Bo_18_assignsubmission_file_{FILE}",
        "Bo_18_assignsubmission_file_x.txt",
    ):
        (tmp_path / name).write_text(PLAIN)
    assert {s.name: s.id for s in collect(tmp_path, STEM)} == {"Ann_17": "17", "Bo_18": "18"}


def test_the_name_of_a_student_does_not_make_a_folder_somebody_elses(tmp_path):
    """Who calls oneself as an export of another student begins hands in as oneself."""
    for name in ("Ann_17_assignsubmission_file_", "Ann_17_assignsubmission_file__99_assignsubmission_file_"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_text(f"who = {name!r}")
    found = {s.id: s.source for s in collect(tmp_path, STEM)}
    assert set(found) == {"17", "99"}
    assert found["17"] == "who = 'Ann_17_assignsubmission_file_'"


def test_names_and_times_of_gradescope_are_read_as_they_are_quoted():
    from dlmini.grade.reading.exports import gradescope_senders, seconds

    names = ["Patrick O'Brien", "'Patrick O''Brien'", '"Bob\' :sid: 777"', '"Say \\"x\\""']
    rows = "".join(
        f"submission_{i}:\r\n  :submitters:\r\n  - :name: {name}\r\n    :sid: 's{i}'\r\n"
        f"  :created_at: 2026-03-0{i + 1} 10:00:00.000000000 Z\r\n  :history:\r\n  - :created_at: 2020-01-01 00:00\r\n"
        for i, name in enumerate(names)
    )
    found = list(gradescope_senders(rows).values())
    assert [s.name for s in found] == ["Patrick O'Brien", "Patrick O'Brien", "Bob' :sid: 777", 'Say "x"']
    assert [s.id for s in found] == ["s0", "s1", "s2", "s3"]
    assert [s.time for s in found] == [seconds(f"2026-03-0{i + 1}T10:00+00:00") for i in range(4)]
    assert seconds("2026-03-01 10:00:00.5 -08:00") == seconds("2026-03-01T18:00:00.5+00:00")


def test_who_handed_in_together_at_gradescope_is_graded_each(tmp_path):
    people = "".join(
        f"  - :name: {name}\n    :sid: '{n}'\n    :email: x@x\n" for n, name in enumerate(("Ann", "Bo: M", "Cy"))
    )
    history = "  :history:\n  - :id: 1\n    :submitters:\n    - :name: Zoe\n    :created_at: 2020-01-01 00:00\n"
    rows = f"submission_1:\n  :submitters:\n{people}  :created_at: 2026-03-01 10:00:00 Z\n  :score: 1.0\n{history}"
    rows += "submission_2:\n  :submitters: []\n  :created_at: 2026-03-02 10:00:00 Z\n"
    for name in ("submission_1", "submission_2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / FILE).write_text(name)
    (tmp_path / "submission_metadata.yml").write_text(rows)
    found = collect(tmp_path, STEM)
    assert [(s.name, s.id, s.source) for s in found] == [
        *((name, str(n), "submission_1") for n, name in enumerate(("Ann", "Bo: M", "Cy"))),
        ("submission_2", "", "submission_2"),
    ]
    assert [datetime.fromtimestamp(s.time, UTC).day for s in found] == [1, 1, 1, 2]


def test_one_student_with_very_many_files_does_not_slow_down_the_list_of_a_class(tmp_path, monkeypatch):
    """Of a zip every name is looked at once, not once for every student."""
    from dlmini.grade.reading import zips
    from dlmini.grade.reading.class_list import class_of

    members = [(f"{i:03}/{FILE}", PLAIN) for i in range(60)] + [(f"zoe/{'a/' * 40}{i}.txt", "") for i in range(2000)]
    (tmp_path / "class.zip").write_bytes(zipped([*members, (f"zoe/{FILE}", PLAIN)]))
    looks, parts_of = [], zips.parts_of
    monkeypatch.setattr(zips, "parts_of", lambda name: looks.append(name) or parts_of(name))
    assert len(class_of(tmp_path / "class.zip", STEM).members) == 61
    assert len(looks) <= 2 * 2061


@pytest.mark.parametrize("form", ["{who}_17_assignsubmission_file_{file}", "{who}_17_90{n}_{file}"])
def test_a_file_of_a_flat_export_goes_by_the_name_that_its_sender_gave_it(tmp_path, form):
    """A program beside a notebook, or an older one: as in a folder, the exercise's own name decides."""
    names = [f"{STEM}.py", f"{STEM}.ipynb", "older.py"]
    texts = [PLAIN, json.dumps(book(PLAIN + "x = 1\n")), PLAIN + "y = 2\n"]
    flat = [
        (form.format(who="ann", n=n, file=name), text) for n, (name, text) in enumerate(zip(names, texts, strict=True))
    ]
    (tmp_path / "class").mkdir()
    for name, text in [*flat, ("bo.py", PLAIN)]:
        (tmp_path / "class" / name).write_text(text)
    (tmp_path / "class.zip").write_bytes(zipped([*flat, ("bo.py", PLAIN)]))
    for root in ("class", "class.zip"):
        found = {s.name: (s.source, s.file) for s in collect(tmp_path / root, STEM, TASKS)}
        assert found == {"ann_17": (PLAIN, FILE), "bo": (PLAIN, "bo.py")}, root


def test_programs_of_others_that_lie_deeper_do_not_hide_the_students_own(tmp_path):
    packages = [(f"env/lib/site-packages/p{i:03}.py", "x = 1\n") for i in range(60)]
    (tmp_path / "ann.zip").write_bytes(zipped([*packages, ("solution.py", PLAIN)]))
    (tmp_path / "bo.py").write_text(PLAIN)
    assert [s.file for s in collect(tmp_path, STEM, TASKS)] == ["solution.py", "bo.py"]


def test_grades_that_go_into_the_folder_of_a_class_are_no_hand_in(tmp_path):
    for name in ("export/ann", "export/bo", "export/cy"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / FILE).write_text(PLAIN)
    out = tmp_path / "grades"
    for _ in range(2):  # when they are not there yet, and when they are
        assert [s.name for s in collect_class([tmp_path], STEM, TASKS, out=out)[0]] == ["ann", "bo", "cy"]
        (out / "students").mkdir(parents=True, exist_ok=True)
        (out / "journal.jsonl").touch()
    assert len(collect_class([tmp_path], STEM, TASKS, out=tmp_path.parent)[0]) == 2


def test_what_a_file_manager_leaves_when_somebody_looks_makes_nobody_late(tmp_path):
    early, now = 1_000_000_000, 1_700_000_000
    looked = (".DS_Store", "._x", "Thumbs.db", "__pycache__/x.pyc", ".ipynb_checkpoints/x.ipynb", "__MACOSX/x")
    members = []
    for name, time in ((FILE, early), *((name, now) for name in looked)):
        file = tmp_path / "class" / "ann" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(PLAIN)
        os.utime(file, (time, time))
        members.append((zipfile.ZipInfo(f"ann/{name}", (2001 if time == early else 2023, 9, 9, 1, 2, 4)), PLAIN))
    (tmp_path / "class" / "bo.py").write_text(PLAIN)
    (tmp_path / "class.zip").write_bytes(zipped([*members, ("bo.py", PLAIN)]))
    for root in ("class", "class.zip"):
        found = {s.name: s for s in collect(tmp_path / root, STEM)}
        assert datetime.fromtimestamp(found["ann"].time).year == 2001, root
        assert found["ann"].source == PLAIN


def export_of_gradescope(folder):
    """Two hand-ins, and no word yet of whose they are."""
    for number in (1, 2):
        (folder / f"submission_{number}").mkdir(parents=True)
        (folder / f"submission_{number}" / FILE).write_text(PLAIN)
    return folder / "submission_metadata.yml"


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such links and pipes")
@pytest.mark.parametrize("what", ["a link", "a pipe"])
def test_a_list_of_senders_that_is_no_file_is_named_and_neither_followed_nor_waited_for(tmp_path, what):
    metadata = export_of_gradescope(tmp_path / "class")
    (tmp_path / "outside").write_text("submission_1:\n  :submitters:\n  - :name: From Outside\n")
    metadata.symlink_to(tmp_path / "outside") if what == "a link" else os.mkfifo(metadata)
    with pytest.raises(ValueError, match=f"It could not be read: submission_metadata.yml is {what}.$") as told:
        collect(tmp_path / "class", STEM, TASKS)
    assert "Unsafe" not in str(told.value)


def test_a_folder_called_as_a_list_of_senders_is_somebodys_hand_in(tmp_path):
    metadata = export_of_gradescope(tmp_path / "class")
    metadata.mkdir()
    (metadata / FILE).write_text(PLAIN)
    found = collect(tmp_path / "class", STEM, TASKS)
    assert [one.name for one in found] == ["submission_1", "submission_2", metadata.name]
    assert all(one.source == PLAIN for one in found)


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="needs folders opened from the one above")
@pytest.mark.parametrize("swapped", ["ann", "ann/src", f"ann/src/{FILE}"])
def test_a_link_put_in_the_place_of_what_was_listed_is_not_followed(tmp_path, swapped):
    """Between the list and the reading, at any height of the way."""
    inside, outside = tmp_path / "class" / "ann" / "src" / FILE, tmp_path / "outside"
    inside.parent.mkdir(parents=True)
    inside.write_text(PLAIN)
    [entry] = entries(tmp_path / "class" / "ann", Budget(), tmp_path / "class")
    assert entry.read(1000) == PLAIN.encode()
    (tmp_path / "class" / swapped).rename(outside)
    (tmp_path / "class" / swapped).symlink_to(outside)
    with pytest.raises(Unsafe, match="is a link"):
        entry.read(1000)


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such pipes")
def test_a_pipe_put_in_the_place_of_what_was_listed_is_not_waited_for(tmp_path):
    file = tmp_path / "ann" / FILE
    file.parent.mkdir()
    file.write_text(PLAIN)
    [entry] = entries(tmp_path / "ann", Budget(), tmp_path)
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(Unsafe, match="is a pipe"):
        entry.read(1000)


WHY = [
    (Unsafe("it holds more than 3 files"), "it holds more than 3 files"),
    (PermissionError(13, "Permission denied", "/home/me/class"), "Permission denied"),
    (MemoryError(), "it takes more than 1 GB of memory"),
    (RecursionError("maximum recursion depth exceeded"), "it is nested too deep"),
    (KeyError("cells"), "it is damaged, or of a form unknown here"),
]


@pytest.mark.parametrize(("error", "sentence"), WHY, ids=lambda it: type(it).__name__)
def test_why_nothing_was_read_is_said_without_python(monkeypatch, error, sentence):
    def fails():
        raise error

    monkeypatch.setitem(reader.VERBS, "class", fails)
    assert reader.answered({"verb": "class"}) == ({"failed": sentence}, False)


def test_what_is_no_class_at_all_is_told_in_a_sentence(tmp_path):
    (tmp_path / "class.rar").write_bytes(b"Rar!")
    with pytest.raises(ValueError, match="It could not be read: it is neither a folder nor a zip of submissions"):
        collect(tmp_path / "class.rar", STEM, TASKS)


@pytest.mark.skipif(os.name != "posix", reason="Windows lets few make links")
@pytest.mark.parametrize("one", [False, True])
def test_a_folder_that_is_named_by_a_link_of_ones_own_is_read(tmp_path, one):
    (tmp_path / "there" / "ann").mkdir(parents=True)
    (tmp_path / "there" / "ann" / FILE).write_text(PLAIN)
    (tmp_path / "here").symlink_to(tmp_path / "there" / ("ann" if one else ""))
    assert [s.source for s in collect(tmp_path / "here", STEM, TASKS, one=one)] == [PLAIN]
