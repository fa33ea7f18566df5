"""What a course keeps beside programs: the roster, which hand-in counts, what being late costs, marks by hand."""

import csv
import io

import pytest

from dlmini.grade.class_run import BEST, LATEST, Wishes, counting, settled
from dlmini.grade.gradebook.deadline import DAY, Deadline, deadline
from dlmini.grade.gradebook.marks import Mark, keep_rows, read_marks
from dlmini.grade.gradebook.people import ABSENT, people
from dlmini.grade.gradebook.roster import read_roster
from dlmini.grade.gradebook.tables import csv_text, safe, unsafe
from dlmini.grade.journal import Journal
from dlmini.grade.lesson import find_lesson
from dlmini.grade.reading.exports import seconds
from dlmini.grade.reports.pages import for_grader, for_student
from dlmini.grade.reports.summary import figure
from dlmini.grade.reports.table import grades
from dlmini.grade.reports.uploads import uploads
from dlmini.grade.submissions.collect import Submission, collect_class
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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("text", [MOODLE, CANVAS, GRADESCOPE, PLAIN], ids=["Moodle", "Canvas", "Gradescope", "plain"])
def test_a_roster_is_read_from_whoever_wrote_it_and_finds_its_hand_ins(tmp_path, text, encoding):
    class_list = roster(tmp_path, text, encoding)
    assert len(class_list) == 2
    for sent in ("Анна Ли_17", "Анна Ли", "Ли Анна", "ЛИ_АННА", "лианна_17"):
        number = "17" if sent.endswith("17") else ""
        found = people([Submission(sent, "x = 1", id=number)], class_list)
        assert [len(p.attempts) for p in found] == [0, 1] or [len(p.attempts) for p in found] == [1, 0], sent
        assert next(p for p in found if p.attempts).student == class_list[0], sent


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


# ---- late ----


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


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "student,points,comment\nAnn,many,\n", "student,points,comment\nAnn,inf,\n"]
)
def test_marks_that_cannot_be_read_are_refused_before_anybody_is_graded(tmp_path, text):
    (tmp_path / "marks.csv").write_text(text)
    with pytest.raises(ValueError, match=r"columns|write \+1"):
        read_marks(tmp_path / "marks.csv")


def test_no_cell_is_a_formula_and_numbers_stay_numbers():
    for text in ("=1+1", "@x", "+cmd", "-x", "\tx", "plain", "-2", "+1.5", "'x"):
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
