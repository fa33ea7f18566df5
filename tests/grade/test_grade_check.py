"""check: cards for a student, from the file as it is now."""

import subprocess
import sys
import zipfile

import numpy as np
import pytest
from examples import some
from grade_course import LESSONS, solution, stub

from dlmini.grade.cards import card, lines
from dlmini.grade.check import check, cool
from dlmini.grade.gradescope_bundle import make
from dlmini.grade.lesson import HIDDEN, VISIBLE, find_lesson
from dlmini.grade.reading.fingerprints import fingerprints
from dlmini.grade.submissions.collect import Submission
from dlmini.grade.submissions.similarity import similar
from dlmini.grade.verdict import PASSED, Verdict


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course folder of one's own, with a function to write an exercise."""
    (tmp_path / "exercises").mkdir()
    monkeypatch.delenv("DLMINI_WORK", raising=False)
    monkeypatch.chdir(tmp_path)
    yield lambda name, text: (tmp_path / "exercises" / f"{name}.py").write_text(text, encoding="utf-8")
    cool()


def test_an_edit_counts_at_once(course):
    course("04_allreduce", stub("04_allreduce"))
    assert check("04.ring_allreduce").standing() == {"04.ring_allreduce": "not done yet"}
    course("04_allreduce", solution("04_allreduce"))
    assert check("04.ring_allreduce").standing() == {"04.ring_allreduce": "passed"}
    assert check("04.ring_allreduce")
    course("04_allreduce", solution("04_allreduce").replace("(r - t) % n, n))", "(r - t + 1) % n, n))"))
    assert check("04.ring_allreduce").standing() == {"04.ring_allreduce": "failed"}


def test_an_untouched_exercise_is_one_short_card_per_function(course):
    course("00_meet_the_lab", stub("00_meet_the_lab"))
    report = check("00")
    assert not report
    assert set(report.standing().values()) == {"not done yet"}
    assert "Traceback" not in repr(report) + report._repr_html_()
    assert repr(report).count("not done yet") == 3


def test_a_failure_shows_its_seed_and_the_seed_replays_it(course):
    course("04_allreduce", solution("04_allreduce").replace("np.empty(n, mine.dtype)", "np.zeros(n, 'f8')"))
    report = check("04.ring_allgather", seed=41)
    assert 'again: check("04.ring_allgather", seed=41)' in repr(report)
    assert report.verdicts[0].detail == check("04.ring_allgather", seed=41).verdicts[0].detail
    assert "holds float64, expected float32" in repr(report)


def test_a_wrong_chunk_is_drawn(course):
    wrong = solution("04_allreduce").replace("return whole\n", "whole[-1] += 1\n    return whole\n")
    course("04_allreduce", wrong)
    report = check("04.ring_allgather")
    assert report.verdicts[0].cells == [True, True, False]
    assert "0:ok  1:ok  2:WRONG" in repr(report)
    assert "<svg" in report._repr_html_()


def test_a_deadlock_is_drawn(course):
    wrong = solution("04_allreduce").replace(
        "comm.send((r + 1) % n, chunk", "comm.recv((r - 1) % n); comm.send((r + 1) % n, chunk"
    )
    course("04_allreduce", wrong)
    report = check("04.ring_reduce_scatter")
    assert "0 --> 2 --> 1 --> 0" in repr(report)
    assert "04_allreduce.py:" in repr(report)
    assert "<svg" in report._repr_html_()


def printing(text: str, what: str) -> str:
    """The exercise with a print at the head of `shard`."""
    return text.replace("    return rank * n // size", f"    print({what})\n    return rank * n // size")


def test_what_a_function_prints_is_shown_also_when_it_passes(course):
    course("00_meet_the_lab", printing(solution("00_meet_the_lab"), "'<b>n is', n"))
    report = check("00.shard")
    assert report
    assert "it printed:" in repr(report)
    assert "<b>n is" in repr(report)
    shown = report._repr_html_()
    assert "<summary" in shown
    assert "&lt;b&gt;n is" in shown
    assert "<b>n is" not in shown


def test_much_that_is_printed_is_cut(course):
    course("00_meet_the_lab", printing(solution("00_meet_the_lab"), "'x' * 100_000"))
    report = check("00.shard")
    assert report
    assert "x ..." in repr(report)
    assert len(repr(report)) < 2000 * len(report.verdicts)
    assert len(report._repr_html_()) < 3000 * len(report.verdicts)


def test_a_hidden_test_that_passes_does_not_tell_what_was_printed():
    told = Verdict("shard", "t", PASSED, 1, 1, HIDDEN, "A sentence.", printed="n is 7")
    assert "n is 7" not in card(told) + lines(told)
    told.visibility = VISIBLE
    assert "n is 7" in card(told)
    assert "n is 7" in lines(told)


def test_a_changed_argument_is_named_even_if_a_second_call_gives_the_same(course):
    behind_a_memo = """
import numpy as np

known = {}


def fit_alpha_beta(sizes: np.ndarray, seconds: np.ndarray) -> tuple[float, float]:
    if not known:
        known[0] = tuple(np.polyfit(sizes.astype(float), seconds, 1)[::-1].tolist())
        seconds.sort()
    return known[0]
"""
    course("00_meet_the_lab", behind_a_memo)
    assert "Your input was changed: seconds is not what it was" in repr(check("00.fit_alpha_beta"))


def test_a_syntax_error_names_its_line(course):
    course("04_allreduce", "def tree_allreduce(comm, x)\n    return x\n")
    assert "04_allreduce.py:1" in repr(check("04.tree_allreduce"))


def test_bad_words_get_a_sentence(course, tmp_path):
    course("04_allreduce", stub("04_allreduce"))
    with pytest.raises(ValueError, match="it has ring_reduce_scatter"):
        check("04.ring_alreduce")
    with pytest.raises(ValueError, match="wants a lesson and a name"):
        check("ring_allreduce")
    with pytest.raises(FileNotFoundError, match=r"found neither in .* nor above; run this inside the course"):
        check("00.shard")
    assert repr(check("99.nothing")) == "99.nothing: no exercise of that name yet"


@pytest.mark.parametrize("name", some(LESSONS, 3))
def test_the_bundle_holds_what_gradescope_runs_and_no_solution(name, tmp_path):
    lesson = find_lesson(name)
    (tmp_path / "mine.txt").write_text("07" * 32)
    one, other = (make(lesson, tmp_path / f"{n}.zip", tmp_path / "mine.txt") for n in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()
    assert one.read_bytes() != make(lesson, tmp_path / "new.zip").read_bytes()
    with zipfile.ZipFile(one) as bundle:
        names = bundle.namelist()
        bundle.extractall(tmp_path / "source")
        assert bundle.getinfo("run_autograder").external_attr >> 16 & 0o111
        assert bundle.getinfo("secret.txt").external_attr >> 16 & 0o777 == 0o600
    assert {"setup.sh", "run_autograder", "dlmini/__main__.py", f"dlmini/lessons/{name[3:]}/grading.py"} <= set(names)
    assert not [n for n in names if "solution" in n]
    for script in ("setup.sh", "run_autograder"):
        text = (tmp_path / "source" / script).read_text()
        assert text.startswith("#!/usr/bin/env bash\n")
        subprocess.run(["bash", "-n", str(tmp_path / "source" / script)], check=True)
    loads = "import dlmini.commands.grade, dlmini.grade.lesson as t; print(t.graded_lessons())"
    found = subprocess.run(
        [sys.executable, "-c", loads], cwd=tmp_path / "source", capture_output=True, text=True, check=True
    )
    assert name in found.stdout


def test_renamed_copies_are_alike_and_different_programs_are_not():
    text = solution("04_allreduce")
    renamed = text.replace("total", "summe").replace("comm", "verbindung").replace("    ###", "    # mine\n    ###")
    own = (
        stub("04_allreduce")
        + "\n\ndef f(a, b):\n"
        + "\n".join(f"    b[{i}] = a if a > {i} else [{i}, *b]" for i in range(30))
    )
    texts = {"ann": text, "bob": renamed, "eve": own}
    class_ = [Submission(who, t, prints=np.array(fingerprints(t), np.uint64)) for who, t in texts.items()]
    (pair,) = similar(class_, common=stub("04_allreduce"))
    assert (pair.one, pair.other) == ("ann", "bob")
    assert pair.share > 0.95
