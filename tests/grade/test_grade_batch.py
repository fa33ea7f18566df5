"""Many submissions by one command: equal scores twice; nothing lost, nothing doubled when it is killed and resumed."""

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import psutil
import pytest
from grade_course import EVERY_MUTANT, solution, stub

from dlmini.grade import batch
from dlmini.grade.batch import Grading, grade_all
from dlmini.grade.journal import Journal, terms_of
from dlmini.grade.lesson import find_lesson
from dlmini.grade.reports import gradescope, junit
from dlmini.grade.reports.all import write_all
from dlmini.grade.sandbox.levels import Bwrap, choose
from dlmini.grade.submissions.collect import Submission, collect
from dlmini.grade.verdict import INFRA, PASSED, Verdict

LESSON = find_lesson("00")
SECRET = bytes(32)
COMMAND = [sys.executable, "-c", "import typer; from dlmini.commands.grade import grade; typer.run(grade)"]


def class_folder(folder, count=4):
    """Solutions, stubs and mutants, under names of all kinds."""
    texts = [solution(LESSON.name), stub(LESSON.name), *(m[3] for m in EVERY_MUTANT if m[0] == LESSON.name)]
    for i, text in enumerate(texts[:count]):
        (folder / f"Студент {i}").mkdir(parents=True)
        (folder / f"Студент {i}" / LESSON.file).write_text(text, encoding="utf-8", newline="\r\n")
    return folder


def graded(out, *options, **popen):
    command = [*COMMAND, "00", str(out.parent / "class"), "-o", str(out), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **popen)


def scores(out):
    with (out / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student_id"]: row["score"] for row in csv.DictReader(file)}


def verdicts(out):
    lines = [json.loads(line) for line in (out / "journal.jsonl").read_bytes().split(b"\n")[:-1]]
    return [(line["name"], line["verdict"]["test"], line["verdict"]["status"]) for line in lines[1:]]


def test_grading_twice_and_killed_and_resumed_gives_equal_scores(tmp_path):
    class_folder(tmp_path / "class")
    first, second = tmp_path / "first", tmp_path / "second"
    whole = graded(first, "--jobs", "2")
    said = whole.communicate()[0]
    assert whole.returncode == 0, said
    assert "sandbox: " in said

    cut = graded(second, "--jobs", "1", "--secret", str(first / "secret.txt"))
    wait_for_lines(second / "journal.jsonl", 6)
    cut.kill()
    cut.communicate()
    early = verdicts(second)
    assert 0 < len(early) < len(verdicts(first))
    with (second / "journal.jsonl").open("a") as torn:
        torn.write('{"name": "Студ')
    refused = graded(second)
    assert "add --resume" in refused.communicate()[0]
    rest = graded(second, "--jobs", "1", "--resume")
    assert rest.communicate()[0]
    assert rest.returncode == 0

    assert scores(second) == scores(first)
    assert scores(first)["Студент 0"] == f"{LESSON.points:g}"
    assert scores(first)["Студент 1"] == "0"
    assert verdicts(second)[: len(early)] == early
    assert sorted(verdicts(second)) == sorted(verdicts(first))
    assert max(Counter(v[:2] for v in verdicts(second)).values()) == 1
    assert not left_behind(cut.pid)


def wait_for_lines(file, count):
    """Until a journal has so many lines."""
    import time

    while not file.exists() or file.read_bytes().count(b"\n") < count:
        time.sleep(0.05)


def left_behind(judge):
    """Runners of a judge that is gone; those it has just left are given time to notice."""
    mine = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("DLMINI_JUDGE") == str(judge):
                mine.append(process)
        except psutil.Error:
            continue
    return [p for p in psutil.wait_procs(mine, timeout=120)[1] if p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.skipif(os.name != "posix", reason="an interrupt is a signal")
def test_an_interrupt_leaves_a_journal_and_no_process(tmp_path):
    class_folder(tmp_path / "class")
    run = graded(tmp_path / "out", "--jobs", "1", start_new_session=True)
    wait_for_lines(tmp_path / "out" / "journal.jsonl", 2)
    os.kill(run.pid, signal.SIGINT)
    run.communicate(timeout=120)
    assert run.returncode != 0
    assert verdicts(tmp_path / "out")
    assert not left_behind(run.pid)


def test_a_folder_of_other_terms_is_not_resumed(tmp_path):
    terms = terms_of(LESSON, SECRET)
    Journal(tmp_path / "journal.jsonl", terms, resume=False).close()
    with pytest.raises(ValueError, match="name another folder"):
        Journal(tmp_path / "journal.jsonl", {**terms, "secret": "another"}, resume=True)
    with pytest.raises(ValueError, match="--resume"):
        Journal(tmp_path / "journal.jsonl", terms, resume=False)


def test_the_graders_own_failure_is_no_grade_and_is_tried_again(tmp_path, monkeypatch):
    class Dead(Bwrap):
        def command(self, limits):
            return [sys.executable, "-c", "raise SystemExit('no sandbox today')"]

    ann = [Submission("ann", solution(LESSON.name))]
    journal = Journal(tmp_path / "journal.jsonl", terms_of(LESSON, SECRET), resume=False)
    monkeypatch.setattr("dlmini.grade.examine.TRIES", 1)
    (found,) = grade_all(Grading(LESSON, Dead(), SECRET, journal), ann)
    journal.close()
    assert {v.status for v in found.verdicts} == {INFRA}
    assert "no sandbox today" in found.verdicts[0].detail
    assert not found.complete
    write_all(tmp_path, LESSON, [found], Dead())
    assert scores(tmp_path) == {"ann": ""}
    again = Journal(tmp_path / "journal.jsonl", terms_of(LESSON, SECRET), resume=True)
    (found,) = grade_all(Grading(LESSON, choose(), SECRET, again), ann)
    again.close()
    assert found.complete
    assert found.score == LESSON.points


def sample():
    """A class as if graded: a good one, a bad one that tries to break reports, and one without a file."""
    evil = "<script>alert(1)</script>\x00\x1b[31m ]]> \ud800".encode("utf-8", "replace").decode()
    good = [Verdict(t.task, t.name, PASSED, t.points, t.points, t.visibility, t.sentence) for t in LESSON.tests]
    bad = [
        Verdict(t.task, t.name, "failed", 0.0, t.points, t.visibility, t.sentence, evil, printed=evil)
        for t in LESSON.tests
    ]
    bad[0].cells, bad[1].waits = [True, False], [[0, [1], evil, evil], [1, [0], "waits", "x.py:1"]]
    missing = Submission("=cmd()", None, "00_meet_the_lab.py was not found")
    absent = [batch.absent(t, missing) for t in LESSON.tests]
    named = [Submission("Анна", solution(LESSON.name)), Submission("../" + evil, "x"), missing]
    return [batch.Graded(s, v) for s, v in zip(named, (good, bad, absent), strict=True)]


def test_results_json_has_gradescopes_fields_and_values():
    for g in sample():
        found = json.loads(gradescope.text(g))
        assert set(found) <= {
            "score",
            "execution_time",
            "output",
            "visibility",
            "stdout_visibility",
            "tests",
            "extra_data",
        }
        assert found["score"] == g.score
        assert sum(t["score"] for t in found["tests"]) == found["score"]
        for test in found["tests"]:
            assert set(test) == {
                "score",
                "max_score",
                "status",
                "name",
                "number",
                "output",
                "tags",
                "visibility",
                "extra_data",
            }
            assert test["status"] in ("passed", "failed")
            assert test["visibility"] in ("visible", "hidden", "after_due_date", "after_published")
            assert 0 <= test["score"] <= test["max_score"]


def test_reports_are_whole_escaped_and_inside_their_folder(tmp_path):
    write_all(tmp_path / "out", LESSON, sample(), choose())
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    pages = list((tmp_path / "out").rglob("*.html"))
    assert len(pages) == 7
    for page in pages:
        assert "<script" not in page.read_text(encoding="utf-8")
    links = re.findall(r'href="([^"]+)"', (tmp_path / "out" / "index.html").read_text(encoding="utf-8"))
    assert len(links) == 6
    assert all((tmp_path / "out" / link).is_file() for link in links)
    with (tmp_path / "out" / "grades.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head[:4] == ["assignment", "duedate", "timestamp", "student_id"]
    assert head[-4:] == ["raw_score", "late_submission_penalty", "score", "max_score"]
    assert [row[3] for row in rows][2] == "'=cmd()"
    assert len(list(csv.DictReader((tmp_path / "out" / "tests.csv").open(encoding="utf-8")))) == 3


def test_junit_is_well_formed_and_counts():
    suites = list(ElementTree.fromstring(junit.text(LESSON, sample()).encode()))
    assert [s.get("failures") for s in suites] == ["0", str(len(LESSON.tests)), str(len(LESSON.tests))]
    assert all(s.get("errors") == "0" for s in suites)


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("DLMINI_LONG") != "1", reason="DLMINI_LONG=1 grades a hundred submissions twice")
@pytest.mark.timeout(3600)
def test_a_hundred_submissions_twice_give_equal_scores(tmp_path):
    lesson, folder = find_lesson("04"), tmp_path / "class"
    mutants = [m[3] for m in EVERY_MUTANT if m[0] == lesson.name]
    evil = [f.read_text(encoding="utf-8") for f in sorted((Path(__file__).parent / "adversaries").glob("*.py"))]
    evil = [text + f"\n{' = '.join(lesson.tasks())} = attack\n" for text in evil if "def attack" in text]
    texts = [solution(lesson.name)] * 13 + [stub(lesson.name)] * 5 + mutants * 2 + evil
    for i, text in enumerate((texts + [solution(lesson.name)] * 100)[:100]):
        (folder / f"student{i:03}").mkdir(parents=True)
        (folder / f"student{i:03}" / lesson.file).write_text(text, encoding="utf-8")
    assert len(collect(folder, lesson.name)) == 100
    for out, more in (("one", []), ("two", ["--secret", str(tmp_path / "one" / "secret.txt")])):
        command = [*COMMAND, "04", str(folder), "-o", str(tmp_path / out), "--jobs", "2", *more]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert scores(tmp_path / "one") == scores(tmp_path / "two")
    assert scores(tmp_path / "one")["student000"] == f"{lesson.points:g}"
    assert "" not in scores(tmp_path / "one").values()


def test_going_on_keeps_roster_deadline_and_which_counts_unless_others_are_given(tmp_path):
    class_folder(tmp_path / "class", 1)
    late = datetime(2026, 3, 21, 12).timestamp()
    os.utime(tmp_path / "class" / "Студент 0" / LESSON.file, (late, late))
    (tmp_path / "roster.csv").write_text("name,id\nСтудент 0,s0\nUte Absent,s1\n", encoding="utf-8")
    out = tmp_path / "out"
    first = ("--roster", "roster.csv", "--due", "2026-03-20 23:59", "--late", "50", "--take", "best")

    def run(*options):
        said, code = (process := graded(out, *options, cwd=tmp_path)).communicate()[0], process.returncode
        assert code == 0, said
        return " ".join(said.split()), scores(out)

    said, before = run(*first)
    assert "as before" not in said
    assert before == {"s0": f"{LESSON.points / 2:g}", "s1": "0"}
    for options in (["--resume"], ["--again", "s0"], ["--resume"]):  # what was kept is kept again
        said, found = run(*options)
        assert found == before
        assert "--due '2026-03-20 23:59' --late 50.0 --late-most 100.0 --take 'best'" in said
    said, found = run("--resume", "--late", "0")
    assert "--late 50" not in said
    assert found == {"s0": f"{LESSON.points:g}", "s1": "0"}
    assert run("--resume")[1] == found
