"""What a course keeps beside programs: the roster, which hand-in counts, what being late costs, marks by hand."""

import csv
import io

import numpy as np
import pytest

from dlmini.grade.class_run import BEST, LATEST, Wishes, counting, doubtful, lateness, overlooked, settled
from dlmini.grade.gradebook.deadline import DAY, Deadline, clock, deadline
from dlmini.grade.gradebook.marks import Mark, keep_rows, read_marks
from dlmini.grade.gradebook.people import ABSENT, claimed, people
from dlmini.grade.gradebook.roster import read_roster
from dlmini.grade.gradebook.tables import csv_text, safe, unsafe
from dlmini.grade.journal import Journal
from dlmini.grade.lesson import find_lesson
from dlmini.grade.reading.exports import seconds, stamped
from dlmini.grade.reports.all import alike
from dlmini.grade.reports.pages import for_grader, for_student
from dlmini.grade.reports.summary import figure
from dlmini.grade.reports.table import grades
from dlmini.grade.reports.uploads import uploads
from dlmini.grade.submissions.collect import Submission, collect, collect_class
from dlmini.grade.verdict import FAILED, INFRA, PASSED, Graded, Verdict

LESSON = find_lesson("00")
FILE = LESSON.file
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Feedback comments\n"
    "Participant 17,Анна Ли,a@x.org,,,,\nParticipant 18,Bo Moe,b@x.org,,,,\n"
)
CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
    '"Ли, Анна",17,u17,ali,A\n"Moe, Bo",18,u18,bmoe,A\n'
)
GRADESCOPE = "First Name,Last Name,SID,Email,Sections\nАнна,Ли,17,a@x.org,\nBo,Moe,18,b@x.org,\n"
PLAIN = "name;id;email\nАнна Ли;17;a@x.org\nBo Moe;18;b@x.org\n"


def roster(tmp_path, text, encoding="utf-8"):
    (tmp_path / "roster.csv").write_bytes(text.encode(encoding))
    return read_roster(tmp_path / "roster.csv")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("text", [MOODLE, CANVAS, GRADESCOPE, PLAIN], ids=["Moodle", "Canvas", "Gradescope", "plain"])
def test_a_roster_is_read_from_whoever_wrote_it_and_finds_its_hand_ins(tmp_path, text, encoding):
    class_list = roster(tmp_path, text, encoding)
    assert len(class_list) == 2
    for sent in ("Анна Ли_17", "Анна Ли", "Ли Анна", "ЛИ_АННА", "лианна_17"):
        number = "17" if sent.endswith("17") else ""
        found = people([Submission(sent, "x = 1", id=number)], class_list)
        assert [len(p.attempts) for p in found] == [0, 1] or [len(p.attempts) for p in found] == [1, 0], sent
        assert next(p for p in found if p.attempts).student == class_list[0], sent


GRADEBOOK = (
    "Student,ID,SIS User ID,SIS Login ID,Section,00 Meet the Lab (987),01 Slopes (988),Current Score\r\n"
    ",,,,,Manual Posting,,(read only)\r\n"
    "    Points Possible,,,,,10,10,(read only)\r\n"
    '"Ли, Анна",17,u17,ali,"A and B",,,\r\n"Moe, Bo",18,u18,bmoe,A,7,,\r\n'
    '"Student, Test",99,,5f3a5c0e8e7b4a9d8c7f6e5d4c3b2a1908f7e6d5,A,,,\r\n'
)


def test_the_gradebook_of_canvas_as_it_is_exported_has_its_students_and_comes_back(tmp_path):
    class_list = roster(tmp_path, GRADEBOOK)
    assert [s.name for s in class_list] == ["Ли, Анна", "Moe, Bo"]
    found = people([Submission("лианна_17", "x = 1", id="17", system="canvas")], class_list)
    class_ = [Graded(p.handed_in()[0], person=p) for p in found]
    (row, other) = csv.DictReader(io.StringIO(uploads(LESSON, class_)["canvas.csv"]))
    assert list(row) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "00 Meet the Lab (987)"]
    assert {(one["ID"], one["SIS User ID"], one["Section"]) for one in (row, other)} == {
        ("17", "u17", "A and B"),
        ("18", "u18", "A"),
    }
    assert row["00 Meet the Lab (987)"] == other["00 Meet the Lab (987)"] == "0"


def test_who_teaches_is_not_absent(tmp_path):
    text = "Full Name,Email,SID,Role\nAnna Li,a@x,1,Student\nProf X,x@x,,Instructor\nTa Y,y@x,,TA\n"
    assert [s.name for s in roster(tmp_path, text)] == ["Anna Li"]


def test_a_roster_in_an_old_code_page_is_refused_in_plain_words(tmp_path):
    with pytest.raises(ValueError, match=r"is no text in UTF-8; save it as a CSV in UTF-8$"):
        roster(tmp_path, PLAIN, "cp1251")


def test_who_only_seems_to_have_one_name_has_a_mark_of_ones_own(tmp_path):
    """Letters composed and in parts are two folders, and look alike in marks.csv."""
    found = people([Submission("Zo\u00eb", "x = 1"), Submission("Zoe\u0308", "y = 1")], None)
    keep_rows(tmp_path / "marks.csv", [p.name for p in found])
    assert len(read_marks(tmp_path / "marks.csv")) == 2


def test_absentees_are_there_and_strangers_are_said_to_be(tmp_path):
    found = people([Submission("Zoe", "x = 1")], roster(tmp_path, PLAIN))
    assert [(p.name, bool(p.attempts), p.student is not None) for p in found] == [
        ("Bo Moe", False, True),
        ("Анна Ли", False, True),
        ("Zoe", True, False),
    ]
    assert found[0].handed_in()[0].problem == ABSENT


def test_a_key_that_two_students_share_decides_nothing(tmp_path):
    text = "name,id,email\nIvan Petrov,1,i1@x.org\nIvan Petrov,2,i2@x.org\n"
    found = people([Submission("Ivan Petrov", "x", id="2"), Submission("Petrov Ivan", "y")], roster(tmp_path, text))
    assert [len(p.attempts) for p in found if p.student] == [0, 1]
    assert len({p.name for p in found}) == 3
    assert len({p.slug for p in found}) == 3


@pytest.mark.parametrize("text", ["", "name\n", "a,b\n1,2\n", "name,due\nAnn,2026-99-99\n"])
def test_a_roster_that_names_nobody_is_refused_in_a_sentence(tmp_path, text):
    with pytest.raises(ValueError, match=r"names nobody|no name, id or email|must be a time"):
        roster(tmp_path, text)
    with pytest.raises(ValueError, match="UTF-8"):
        roster(tmp_path, "name\nАнна\n", "cp1251")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_a_roster_of_any_spreadsheet_with_short_rows_is_read(tmp_path, end, between):
    rows = [["name", "email", "ID"], ["Ann Li", "a@x.org"], ["Bo Moe"], ["Cy Day", "", "3", "more"]]
    found = people([Submission("cy_day", "x")], roster(tmp_path, end.join(between.join(row) for row in rows) + end))
    assert [(p.name, len(p.attempts)) for p in found] == [("Ann Li", 0), ("Bo Moe", 0), ("Cy Day", 1)]
    with pytest.raises(ValueError, match="is no CSV"):
        roster(tmp_path, f"name\n{'x' * 200_000}\n")


def test_who_is_on_the_roster_twice_is_one_student(tmp_path):
    text = (
        "name,id,email,section\nAnn Li,1,a@x.org,A\nAnn Li,1,a@x.org,B\nBo,,b@x.org,A\nBo,,b@x.org,B\nCy,,,A\nCy,,,B\n"
    )
    found = people([Submission("Ann Li", "x"), Submission("bo", "y")], roster(tmp_path, text))
    assert [(p.name, len(p.attempts)) for p in found] == [("Ann Li", 1), ("Bo", 1), ("Cy (?)", 0), ("Cy (?)'", 0)]


@pytest.mark.parametrize(("system", "stranger"), [("moodle", []), ("canvas", ["Zoe_17"]), ("", ["Zoe_17"])])
def test_a_number_of_one_system_is_not_taken_for_the_id_of_another_student(tmp_path, system, stranger):
    """Moodle's number of a participant may well be somebody else's number in the university's list."""
    class_list = roster(tmp_path, "name,id\nAnna Li,12\nBo Moe,17\n")
    sent = [Submission("Anna Li_17", "x", id="17", system=system), Submission("Zoe_17", "y", id="17", system=system)]
    found = {p.name: [a.name for a in p.attempts] for p in people(sent if system else sent[1:], class_list)}
    assert found["Bo Moe"] == stranger
    assert not system or found["Anna Li"] == ["Anna Li_17"]


# ---- several hand-ins ----


def test_hand_ins_with_times_in_their_names_are_attempts_of_one_student(tmp_path):
    for place in ("ann_2026-11-03_18-30", "ann_2026-11-05", "bo/2026-11-01T10-00", "bo/2026-11-02 11.15", "cy"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / FILE).write_text(f"x = {place!r}")
    found = {p.name: p for p in people(collect_class([tmp_path], LESSON.name)[0], None)}
    assert {name: len(p.attempts) for name, p in found.items()} == {"ann": 2, "bo": 2, "cy": 1}
    assert found["ann"].attempts[0].time == seconds("2026-11-03 18:30")
    assert counting(found["ann"], LATEST)[0].source == "x = 'ann_2026-11-05'"
    assert len(counting(found["bo"], BEST)) == 2


def test_the_same_name_in_two_exports_is_one_student(tmp_path):
    for week in ("one", "two"):
        (tmp_path / week / "ann").mkdir(parents=True)
        (tmp_path / week / "ann" / FILE).write_text(f"x = {week!r}")
    (found,) = people(collect_class([tmp_path / "one", tmp_path / "two"], LESSON.name)[0], None)
    assert len(found.attempts) == 2
    assert len({a.name for a in found.attempts}) == 2


def result(submission, share):
    verdicts = [
        Verdict(t.task, t.name, PASSED, t.points * share, t.points, t.visibility, t.sentence) for t in LESSON.tests
    ]
    return Graded(submission, verdicts)


def canvas_class(tmp_path):
    """An export of Canvas: all files bear the time of the download, long after the deadline; in two of them is LATE."""
    (tmp_path / "class").mkdir()
    for name in ("liann_17_91", "moebo_LATE_18_92", "coxcy_LATE_19_93"):
        (tmp_path / "class" / f"{name}_{FILE}").write_text("x = 1\n")
    (tmp_path / "class" / "moebo_18_94_more.txt").write_text("x")
    return {s.name: s for s in collect(tmp_path / "class", LESSON.name)}


def test_canvas_says_who_came_late_and_its_files_do_not(tmp_path):
    due, sent = Deadline(1e9, 20), canvas_class(tmp_path)
    rows = roster(tmp_path, "name,id,submitted\nAnn Li,17,\nBo Moe,18,\nCy Cox,19,2001-09-12 12:00\n")
    persons = {p.name: p for p in people(list(sent.values()), rows)}
    made = {name: Graded(p.attempts[0], person=p) for name, p in persons.items()}
    assert set(made) == {"Ann Li", "Bo Moe", "Cy Cox"}
    lost = {name: lateness(graded, graded.person, due) for name, graded in made.items()}
    assert lost == {"Ann Li": 0.0, "Bo Moe": 0.2, "Cy Cox": due.share(seconds("2001-09-12 12:00"))}
    assert lost["Cy Cox"] > 0.2
    rows = csv.DictReader(io.StringIO(grades(LESSON, list(made.values()), due)))
    table = {r["student_id"]: r["timestamp"] for r in rows}
    assert table == {"17": "", "18": "", "19": "2001-09-12 12:00"}
    (said,) = overlooked(list(made.values()), LESSON.points, due)
    assert "Canvas says of Bo Moe that they came late, and not by how much: each has lost what one day costs" in said
    assert "nobody is late without --due" in overlooked(list(made.values()), LESSON.points, None)[0]


def test_the_latest_or_the_best_counts_after_what_being_late_costs(tmp_path):
    due = deadline("2026-11-04 00:00", per_day=50.0)
    early = Submission("ann 1", "x", sender="ann", time=due.due - 1)
    late = Submission("ann 2", "y", sender="ann", time=due.due + DAY / 2)
    (person,) = people([late, early], None)
    for take, expected in ((LATEST, 0.5), (BEST, 0.6)):
        tried = [result(early, 0.6), result(late, 1.0)]
        (found,) = settled([person], tried, Wishes(deadline=due, take=take), {})
        assert found.score == pytest.approx(expected * LESSON.points)
    with pytest.raises(ValueError, match="latest"):
        Wishes(take="first")


def test_a_time_in_a_name_with_a_z_is_universal_time():
    assert stamped("ann_2026-11-03T22-30Z") == ("ann", seconds("2026-11-03T22:30+00:00"))
    assert stamped("ann_2026-11-03T22-30-15Z") == ("ann", seconds("2026-11-03T22:30+00:00"))
    assert stamped("ann_2026-11-03_22.30") == ("ann", seconds("2026-11-03 22:30"))


# ---- late ----


def test_a_time_that_no_calendar_has_is_shown_as_unknown():
    assert [clock(time) for time in (1e12, 1e300, float("inf"), -1.0, 0.0)] == [""] * 5
    assert clock(seconds("2026-11-03 22:30")) == "2026-11-03 22:30"


def test_every_day_that_has_begun_costs_up_to_the_most_and_a_due_of_ones_own_counts():
    rule = Deadline(1e9, per_day=10.0, most=25.0)
    assert [rule.share(1e9 + late) for late in (-1, 0, 1, DAY, DAY + 1, 100 * DAY)] == [0, 0, 0.1, 0.1, 0.2, 0.25]
    assert rule.share(1e9 + DAY, own=1e9 + 2 * DAY) == 0
    assert rule.share(0.0) == 0  # nobody knows when


@pytest.mark.parametrize("bad", [{"per_day": -1}, {"per_day": 101}, {"most": float("nan")}, {"due": "soon"}])
def test_a_penalty_that_makes_no_sense_is_refused(bad):
    with pytest.raises((ValueError, TypeError), match="must be"):
        Deadline(**{"due": 1e9, **bad})
    with pytest.raises(ValueError, match="write it as 2026-11-20 23:59"):
        deadline("next week")


# ---- marks by hand ----


def test_marks_by_hand_add_or_give_and_are_never_changed_by_grading_again(tmp_path):
    file = tmp_path / "marks.csv"
    keep_rows(file, ["Ann", "=cmd()"])
    text = 'student,points,comment\r\nAnn,+1.5,"good, ""very"" good"\r\nBo,7,\nCy,,see me\nDi,"-2",'
    file.write_text(text, newline="", encoding="utf-8-sig")
    found = read_marks(file)
    assert found["Ann"] == Mark(1.5, None, 'good, "very" good')
    assert [found[n].of(5.0) for n in ("Ann", "Bo", "Cy", "Di")] == [6.5, 7.0, 5.0, 3.0]
    assert Mark(-9).of(5.0) == 0
    keep_rows(file, ["Ann", "Bo", "Cy", "Di", "=cmd()"])
    assert read_marks(file)["=cmd()"] == Mark()
    assert text in file.read_bytes().decode()
    before = file.read_bytes()
    keep_rows(file, ["Ann", "=cmd()"])
    assert file.read_bytes() == before


@pytest.mark.parametrize("sign", [b"", "\ufeff".encode()])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_marks_as_any_spreadsheet_saves_them_are_read_and_go_on_in_the_same_form(tmp_path, between, end, sign):
    rows = [
        ["student", "points", "comment"],
        [" Ann  Li", '"7,5"', ""],
        ["Bo", "", ""],
        ["Bo", "+1", "x", "", ""],
        ["Bo", "", ""],
    ]
    before = sign + end.join(between.join(row) for row in rows).encode()
    (tmp_path / "m").write_bytes(before)
    keep_rows(tmp_path / "m", ["Ann Li", "Bo", "Андрей"])
    assert (tmp_path / "m").read_bytes().startswith(before)
    found = {"Ann Li": Mark(0.0, 7.5), "Bo": Mark(1.0, None, "x"), "Андрей": Mark()}
    assert read_marks(tmp_path / "m") == found
    keep_rows(tmp_path / "m", ["Андреи\u0306"])  # the same letters, as macOS writes them
    assert read_marks(tmp_path / "m") == found


def test_an_empty_table_of_marks_gets_its_columns(tmp_path):
    for before in (None, b"", b"\n", "\ufeff".encode()):
        if before is not None:
            (tmp_path / "m").write_bytes(before)
        keep_rows(tmp_path / "m", ["Анна"])
        assert read_marks(tmp_path / "m") == {"Анна": Mark()}


@pytest.mark.parametrize("rows", ["Ann,7,5,fine\n", "Ann,,come, please\n", "Ann,7,\nAnn,8,\n", "Ann;7;\n"])
def test_a_mark_that_may_mean_two_things_is_refused(tmp_path, rows):
    (tmp_path / "m").write_text(f"student,points,comment\n{rows}")
    with pytest.raises(ValueError, match=r"more cells than columns|another mark above|the same sign in all lines"):
        read_marks(tmp_path / "m")


def test_a_mark_by_hand_follows_its_student_to_another_name_and_is_never_lost_in_silence(tmp_path):
    sent = [
        Submission("Анна Ли_17", "x", id="17", system="moodle"),
        Submission("Bo Moe_18", "y", id="18", system="moodle"),
    ]
    marks = {
        "Анна Ли_17": Mark(1.0),
        "Bo Moe_18": Mark(2.0),
        "Bo Moe": Mark(3.0),
        "Eve": Mark(0, None, "?"),
        "Ed": Mark(),
    }
    assert claimed(marks, people(sent, None)) == ({"Анна Ли_17": Mark(1.0), "Bo Moe_18": Mark(2.0)}, ["Bo Moe", "Eve"])
    found = claimed(marks, people(sent, roster(tmp_path, MOODLE)))
    assert found == ({"Анна Ли": Mark(1.0), "Bo Moe": Mark(3.0)}, ["Bo Moe_18", "Eve"])
    two = roster(tmp_path, "name,id\nBo Moe,1\nBo Moe,2\n")
    assert claimed({"Bo Moe": Mark(1.0)}, people([], two)) == ({}, ["Bo Moe"])


def test_marks_beyond_the_most_and_of_nobody_are_said(tmp_path):
    (person,) = people([Submission("Bo", "x")], None)
    for mark, many in ((Mark(0, 700.0), 1), (Mark(0.5), 1), (Mark(0, LESSON.points), 0)):
        (graded,) = settled([person], [result(person.attempts[0], 1.0)], Wishes(), {"Bo": mark})
        found = doubtful(["Eve"], [graded], LESSON.points)
        assert "Eve, who is not in this class" in found[0]
        assert len(found) == 1 + many


def test_what_a_roster_says_and_grading_does_not_follow_is_said(tmp_path):
    text = "Identifier,Full name,Maximum Grade,due\nParticipant 17,Bo,{},{}\n"
    for most, due, rule, count in (
        ("100.00", "", None, 1),
        (f"{LESSON.points:g}", "", None, 0),
        ("", "2026-11-03", None, 1),
    ):
        (person,) = people([], roster(tmp_path, text.format(most, due)))
        graded = settled([person], [result(person.handed_in()[0], 0.0)], Wishes(), {})
        assert len(overlooked(graded, LESSON.points, rule)) == count
        assert len(overlooked(graded, LESSON.points, Deadline(1e9))) == (most == "100.00")


def test_hand_ins_that_no_row_of_a_roster_claims_are_named_at_once(tmp_path):
    """Two rows that differ in capitals alone: whose it is must be asked, and both would be absent without a word."""
    for names, unknown in (("ann\nAnn", ["Ann (Ann)", "ann (ann)", "Bo"]), ("ann\nBo", [])):
        came = [Submission(name, "x") for name in (("ann", "Ann", "Bo") if unknown else ("ann", "Bo"))]
        persons = people(came, roster(tmp_path, f"name\n{names}\n"))
        graded = settled(persons, [result(one, 0.0) for p in persons for one in p.handed_in()], Wishes(), {})
        found = overlooked(graded, LESSON.points, None)
        assert len(found) == bool(unknown)
        assert all(name in found[0] for name in unknown)
    many = [Submission(f"n{i}", "x") for i in range(9)]
    persons = people(many, roster(tmp_path, "name\nBo\n"))
    graded = settled(persons, [result(one, 0.0) for p in persons for one in p.handed_in()], Wishes(), {})
    (sentence,) = overlooked(graded, LESSON.points, None)
    assert sentence.endswith("n4 and 4 more")


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "student,points,comment\nAnn,many,\n", "student,points,comment\nAnn,inf,\n"]
)
def test_marks_that_cannot_be_read_are_refused_before_anybody_is_graded(tmp_path, text):
    (tmp_path / "marks.csv").write_text(text)
    with pytest.raises(ValueError, match=r"columns|write \+1"):
        read_marks(tmp_path / "marks.csv")


def test_no_cell_is_a_formula_and_numbers_stay_numbers():
    for text in ("=1+1", "@x", "+cmd", "-x", "\tx", "\n=x", "＝x", "'=x", "''@x", "plain", "-2", "+1.5", "'x"):
        assert unsafe(safe(text)) == text
        (row,) = csv.DictReader(io.StringIO(csv_text(["a"], [{"a": text}])))
        assert row["a"] == text if text in ("-2", "+1.5", "plain", "'x") else row["a"] == "'" + text


# ---- grading again ----


def test_what_is_struck_out_is_examined_again_also_after_a_resume(tmp_path):
    journal = Journal(tmp_path / "j", {}, resume=False)
    for name in ("ann", "bo"):
        for test in ("t", "u"):
            journal.add(name, "d", Verdict("f", test, FAILED, 0, 1, "public", "x"))
    journal.strike(["ann"], [])
    journal.strike([], ["u"])
    journal.add("ann", "d", Verdict("f", "t", PASSED, 1, 1, "public", "x"))
    journal.close()
    for found in (journal, Journal(tmp_path / "j", {}, resume=True)):
        known = {(n, t): found.find(n, "d", t) is not None for n in ("ann", "bo") for t in ("t", "u")}
        assert known == {("ann", "t"): True, ("ann", "u"): False, ("bo", "t"): True, ("bo", "u"): False}


# ---- reports ----


def whole_class(tmp_path, text=MOODLE):
    class_list = roster(tmp_path, text)
    sent = [Submission("Анна Ли_17", "x", id="17", system="moodle", time=1e9)]
    persons = people(sent, class_list)
    found = [result(a, 0.5) for p in persons for a in p.handed_in()]
    for graded in found:
        for v in graded.verdicts:
            v.detail, v.printed = f"SECRET of {v.visibility}", f"INPUT of {v.visibility}"
            v.status = FAILED
    found[-1].verdicts[0].mistakes = ["the sum in the place of the mean"]
    marks = {"Анна Ли": Mark(1.0, None, "well <done>")}
    return settled(persons, found, Wishes(deadline=Deadline(1e9 - 1)), marks)


def test_students_pages_say_nothing_of_hidden_tests_but_how_many_were_passed(tmp_path):
    hidden = [t.sentence for t in LESSON.tests if t.visibility == "hidden"]
    for graded in whole_class(tmp_path):
        student, grader = for_student(LESSON, graded), for_grader(LESSON, graded)
        assert "of hidden" not in student
        assert "of hidden" in grader
        assert not [s for s in hidden if s in student]
        assert "Hidden tests: 0 of" in student
    assert "well &lt;done&gt;" in student
    assert "well &lt;done&gt;" in grader


def test_uploads_bear_the_ids_and_columns_of_where_the_roster_came_from(tmp_path):
    rows = {}
    for text in (MOODLE, CANVAS, GRADESCOPE):
        for name, made in uploads(LESSON, whole_class(tmp_path, text)).items():
            rows[name, text] = list(csv.DictReader(io.StringIO(made)))
    moodle = {r["Identifier"]: r for r in rows["moodle.csv", MOODLE]}
    assert set(moodle) == {"Participant 17", "Participant 18"}
    assert float(moodle["Participant 17"]["Grade"]) == pytest.approx(0.45 * LESSON.points + 1)
    assert "well <done>" in moodle["Participant 17"]["Feedback comments"]
    assert list(rows["moodle.csv", MOODLE][0])[:3] == ["Identifier", "Full name", "Email address"]
    assert {r["ID"]: bool(r[LESSON.name]) for r in rows["canvas.csv", CANVAS]} == {"17": True, "18": True}
    assert {r["SID"] for r in rows["gradescope.csv", GRADESCOPE]} == {"17", "18"}


def test_a_score_that_is_not_final_is_uploaded_nowhere(tmp_path):
    class_ = whole_class(tmp_path)
    for graded in class_:
        graded.verdicts[0].status = INFRA
    (moodle,) = uploads(LESSON, class_).values()
    assert {r["Grade"] for r in csv.DictReader(io.StringIO(moodle))} == {""}
    assert {r["score"] for r in csv.DictReader(io.StringIO(grades(LESSON, class_)))} == {""}


def test_the_figure_names_mistakes_and_is_well_formed(tmp_path):
    from xml.etree import ElementTree

    for class_ in (whole_class(tmp_path), []):
        found = figure(LESSON, class_, Deadline(1e9 - 1))
        assert ElementTree.fromstring(found).tag.endswith("svg")
    assert "the sum in the place of the mean" in figure(LESSON, whole_class(tmp_path))


def test_programs_that_look_alike_are_named_by_their_students(tmp_path):
    same = {"source": "x = 1", "prints": np.arange(40, dtype=np.uint64)}
    sent = [Submission("Анна Ли_17", id="17", **same), Submission("Bo Moe_18", id="18", **same)]
    class_ = [Graded(p.attempts[0], person=p) for p in people(sent, roster(tmp_path, PLAIN))]
    assert [{pair.one, pair.other} for pair in alike(class_, "")] == [{"Анна Ли", "Bo Moe"}]
